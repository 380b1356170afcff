import { giveBackUser, takeUser } from '../../../activities/browser-host/chromium/unprivileged-user.ts';

/** Another process than root has no other users. */
const asRoot = process.getuid?.() === 0 ? test : test.skip;

asRoot('no two browsers have the same user at the same time', () => {
  const users = Array.from({ length: 1_000 }, takeUser);
  expect(new Set(users.map((user) => user?.uid)).size).toBe(1_000);
  expect(takeUser).toThrow('all users for browsers are in use');
  giveBackUser(users[7]);
  expect(takeUser()).toEqual(users[7]);
  for (const user of users) giveBackUser(user);
});
