/** A path to suggest for an endpoint of this name; empty without letters and digits. */
export function suggestPattern(name: string): string {
  const slug = name
    .slice(0, 200)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return slug === '' ? '' : `/${slug}`
}
