/** The roles of callers who manage the service. */

/**
 * viewer: reads everything but the bodies of messages; operator: bodies and replays as well; author: documents; admin:
 * everything, keys and the audit log too.
 */
export const ROLES = ['viewer', 'operator', 'author', 'admin'] as const
export type Role = (typeof ROLES)[number]

const GRANTS: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ['viewer'],
  operator: ['viewer', 'operator'],
  author: ['viewer', 'author'],
  admin: ROLES,
}

export const allows = (roles: readonly Role[], needed: Role): boolean =>
  roles.some((role) => GRANTS[role].includes(needed))

export const isRole = (text: unknown): text is Role => ROLES.some((role) => role === text)

/** Who makes a management call. */
export type Caller = Readonly<{
  /** `key:<id>`, `token:<subject>`, `command:<user>`, `local` (a call from this machine), `anyone` (no check is made). */
  who: string
  /** The name for people. */
  name?: string
  roles: readonly Role[]
}>
