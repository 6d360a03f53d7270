export function entry(): string
export const FLAGS: readonly string[]
