/** Who may manage the service, and by what they prove it. */

/**
 * viewer: everything that tells how things are, but no bodies of messages; operator: these and replays as well; author:
 * documents; admin: all of it, keys and the audit log.
 */
export const ROLES = ['viewer', 'operator', 'author', 'admin'] as const
export type Role = (typeof ROLES)[number]

const GRANTS: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ['viewer'],
  operator: ['viewer', 'operator'],
  author: ['viewer', 'author'],
  admin: ROLES,
}

/** Whether one of the roles lets do what `needed` stands for. */
export const allows = (roles: readonly Role[], needed: Role): boolean =>
  roles.some((role) => GRANTS[role].includes(needed))

export const isRole = (text: unknown): text is Role => ROLES.some((role) => role === text)

/** Who makes a management call. */
export type Caller = Readonly<{
  /** `key:<id>`, `token:<subject>`, `command:<user>`, `local` (a call from this machine), `anyone` (no check is made). */
  who: string
  /** What people know it by. */
  name?: string
  roles: readonly Role[]
}>
