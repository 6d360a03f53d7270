export function entry(): string
