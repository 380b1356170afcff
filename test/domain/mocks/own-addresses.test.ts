import { withOwnAddresses } from '../../../domain/mocks/serving/own-addresses.ts';

const UPSTREAM = 'https://api.example.com/base';
const OWN = 'http://localhost:3000/mocks/key';
const changed = (text: string, type = 'application/json') =>
  withOwnAddresses(Buffer.from(text), type, UPSTREAM, OWN).toString();

describe('addresses of the upstream in an answer', () => {
  it.each([
    [`{"next": "${UPSTREAM}/a?page=2"}`, `{"next": "${OWN}/a?page=2"}`],
    [
      String.raw`{"next": "https:\/\/api.example.com\/base\/a"}`,
      String.raw`{"next": "http:\/\/localhost:3000\/mocks\/key\/a"}`,
    ],
    [`<${UPSTREAM}>; rel=self, see ${UPSTREAM}.`, `<${OWN}>; rel=self, see ${OWN}.`],
    [`${UPSTREAM}ment ${UPSTREAM}-2 ${UPSTREAM}`, `${UPSTREAM}ment ${UPSTREAM}-2 ${OWN}`],
    ['ä😀 nothing', 'ä😀 nothing'],
    [`ä😀 ${UPSTREAM}/é`, `ä😀 ${OWN}/é`],
  ])('are ours: %s', (text, expected) => {
    expect(changed(text)).toBe(expected);
  });

  it('stay in what is no text', () => {
    expect(changed(UPSTREAM, 'image/png')).toBe(UPSTREAM);
  });
});
