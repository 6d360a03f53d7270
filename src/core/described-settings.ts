/** What the service runs with, for people; nothing secret. */

export type DescribedSetting = Readonly<{
  name: string
  means: string
  accepts: string
  /** As the environment would have it; empty for none. */
  default: string
  isDefault: boolean
  /** Left out of secrets, of files, and of what has no short text. */
  value?: string
}>

export type DescribedGroup = Readonly<{ title: string; settings: readonly DescribedSetting[] }>
