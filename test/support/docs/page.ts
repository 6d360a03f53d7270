/** What a page of the guide is made of, as far as a test can run or follow it. */

/** A fenced block. `words` are the language and what stands after it: `json endpoint`. */
export type Fence = Readonly<{ kind: 'fence'; words: readonly string[]; text: string; line: number }>

/** Cells as written; see `codeIn`. */
export type Table = Readonly<{ kind: 'table'; header: readonly string[]; rows: readonly Row[]; line: number }>
export type Row = Readonly<{ cells: readonly string[]; line: number }>

export type Block = Fence | Table

/** The fenced blocks and tables of a page, in their order. */
export function blocksOf(markdown: string): readonly Block[] {
  const lines = markdown.split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const info = /^```(.+)$/.exec(line)?.[1]
    const start = at
    if (info !== undefined) {
      while (lines[++at] !== '```') if (at >= lines.length) throw new Error(`the block in line ${start + 1} has no end`)
      const text = lines.slice(start + 1, at).join('\n')
      blocks.push({ kind: 'fence', words: info.trim().split(/\s+/), text, line: start + 1 })
    } else if (line.startsWith('|')) {
      while (lines[at + 1]?.startsWith('|')) at++
      const [header, , ...rest] = lines.slice(start, at + 1).map(cellsOf)
      const rows = rest.map((cells, index) => ({ cells, line: start + 3 + index }))
      blocks.push({ kind: 'table', header: header ?? [], rows, line: start + 1 })
    }
  }
  return blocks
}

const cellsOf = (line: string): string[] =>
  line
    .replace(/^\||\|\s*$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))

/** The texts in backquotes. */
export const codeIn = (cell: string): readonly string[] =>
  [...cell.matchAll(/(`+) ?(.+?) ?\1(?!`)/g)].map(([, , code]) => code ?? '')

/** Targets of links that lead to a file or a heading of this project. */
export function linksOf(markdown: string): readonly string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target ?? '')
    .filter((target) => !/^\w+:/.test(target))
}

/** The names under which the headings of a page can be linked to. */
export function headingsOf(markdown: string): readonly string[] {
  const headings = markdown.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)
  return [...headings].map(([, text]) =>
    (text ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  )
}
