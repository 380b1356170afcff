import { type Command, commandOf } from '../../../../domain/delivery/flows/programs/commands-file.ts';

const command = (program: string): Command => ({ program, args: [], timeoutSeconds: 1, env: {} });
const commands = (...types: string[]) => new Map(types.map((type) => [type, command(type)]));

test.each([
  [['execute-release'], 'execute-release'],
  [['execute-release', 'rollback-release'], 'rollback-release'],
  [['rollback-release'], 'rollback-release'],
  [['request-release', 'install-packages'], undefined],
])('where the operator allows %j, a rollback runs the command of %s', (types, expected) => {
  expect(commandOf(commands(...types), 'rollback-release')?.program).toBe(expected);
});

test('no other type runs the command of another', () => {
  expect(commandOf(commands('execute-release'), 'request-release')).toBeUndefined();
  expect(commandOf(commands('rollback-release'), 'execute-release')).toBeUndefined();
});
