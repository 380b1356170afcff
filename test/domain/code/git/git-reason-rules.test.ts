import { gitReason } from '../../../../domain/code/git/git-reason-rules.ts';

test.each([
  ['', undefined],
  ['warning: nothing to say\n', undefined],
  ['error: object file ./objects/ab/cdef is empty\n', 'object file … is empty'],
  [
    'error: inflate: data stream error (incorrect header check)\nfatal: loose object 9fceb02d (stored in /srv/git/shop.git/objects/9f/ce) is corrupt\nfatal: early EOF\n',
    'inflate: data stream error (incorrect header check); loose object 9fceb02d (stored in …) is corrupt',
  ],
  [
    'error: git upload-pack: git-pack-objects died with error.\nfatal: git upload-pack: aborting.\nremote: fatal: loose object 9fceb02d is corrupt\n',
    'loose object 9fceb02d is corrupt; git upload-pack: git-pack-objects died with error.',
  ],
  ['remote: fatal: bad tree object 9fceb02d\n', 'bad tree object 9fceb02d'],
  ["fatal: unable to access 'https://u:p@git.example.com/acme/shop.git/': Failure", "unable to access '…': Failure"],
  ['fatal: git@git.example.com:acme/shop.git is broken', '… is broken'],
  ['fatal: cannot open ../objects/pack for x', 'cannot open … for x'],
  ['fatal: token hush%2Fhush of robot is wrong, hush/hush', 'token … of … is wrong, …'],
  [`fatal: ${'x'.repeat(1_000)}`, 'x'.repeat(300)],
  ['fatal: a\u001b[31mb', 'a [31mb'],
])('%j', (stderr, reason) => {
  expect(gitReason(stderr, { username: 'robot', password: 'hush/hush' })).toBe(reason);
});
