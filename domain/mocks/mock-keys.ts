import { randomBytes } from 'node:crypto';
import { hashSecret } from '../kernel/encryption/secrets.ts';
import type { Encryption } from '../kernel/encryption/encryption.ts';

/** 128 bits in base64url. */
const KEY_BYTES = 16;
export const MOCK_KEY = /^[\w-]{22}$/;

/** The context under which the key of a workspace is encrypted. */
export const mockKeyContext = (workspaceId: string): string => `mock_workspace:${workspaceId}`;

/** A new key of a workspace, as it is stored. */
export function newMockKey(encryption: Encryption, workspaceId: string): { key: string; keyHash: string } {
  const key = randomBytes(KEY_BYTES).toString('base64url');
  return { key: encryption.encrypt(key, mockKeyContext(workspaceId)), keyHash: hashSecret(key) };
}

/**
 * What the mock servers of a service name it to upstreams: the same in all its processes.
 * @param publicUrl as clients write it.
 */
export const serviceId = (publicUrl: string): string => hashSecret(publicUrl).slice(0, 16);

/** Where clients under test reach a workspace. @param mocksUrl of mock scenarios, without a slash at its end. */
export const mockBaseUrl = (
  { encryption, mocksUrl }: { encryption: Encryption; mocksUrl: string },
  { workspaceId, key }: { workspaceId: string; key: string },
): string => `${mocksUrl}/mocks/${encryption.decrypt(key, mockKeyContext(workspaceId))}`;
