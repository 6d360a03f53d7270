/** Paths of the message port that belong to the service, with all that is below them. */
export const RESERVED = ['/uptime', '/endpoints']

/** The one that a path is, or is below; undefined where it belongs to users. */
export const reservedBy = (path: string): string | undefined =>
  RESERVED.find((reserved) => path === reserved || path.startsWith(`${reserved}/`))
