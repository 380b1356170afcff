import { connectionOf } from '../../../tools/backup/database-dump.ts';

test.each([
  ['postgres://me:secret@db:5432/own', 'postgres://me@db:5432/own', 'secret'],
  ['postgres://me:s%40cr%25et@db/own?sslmode=require', 'postgres://me@db/own?sslmode=require', 's@cr%et'],
  [
    'postgres://me@db/own?password=secret&options=-c%20geqo=off',
    'postgres://me@db/own?options=-c%20geqo=off',
    'secret',
  ],
  ['postgres://me:other@db/own?sslmode=require&password=s%26cret', 'postgres://me@db/own?sslmode=require&', 's&cret'],
])('programs are told the password of %s by their environment, not by arguments', (url, address, password) => {
  expect(connectionOf(url)).toEqual({ args: ['--dbname', address], env: { PGPASSWORD: password } });
});

test('an address without a password leaves the one of the environment', () => {
  expect(connectionOf('postgres://me@db/own')).toEqual({ args: ['--dbname', 'postgres://me@db/own'], env: {} });
});
