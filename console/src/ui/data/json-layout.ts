/** JSON text on lines, its values untouched: reading and writing it would change numbers, and drop names that are there twice. */

export const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * In: any text. Out: the same tokens with line feeds and two spaces for each level; undefined if it is not JSON (it is checked
 * by the browser's own parser first).
 */
export function layOutJson(text: string): string | undefined {
  if (!isJson(text)) return undefined
  const out: string[] = []
  let depth = 0
  let before = ''
  const newLine = () => out.push('\n', '  '.repeat(depth))
  for (const [token] of text.matchAll(TOKENS)) {
    const opens = before === '{' || before === '['
    if (token === '}' || token === ']') {
      depth -= 1
      if (!opens) newLine()
    } else if (opens || before === ',') newLine()
    if (token === '{' || token === '[') depth += 1
    out.push(token === ':' ? ': ' : token)
    before = token
  }
  return out.join('')
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
