/** Files that are written from the code: kept in the repository for readers, and checked so that they cannot drift. */
import { readFileSync, writeFileSync } from 'node:fs'

export type GeneratedFile = Readonly<{ path: string; text: string }>

/** First line of generated Markdown. */
export const generatedBy = (script: string): string => `<!-- Written by ${script}: change that, not this. -->\n`

/**
 * Writes each file; with `--check` among the arguments compares instead.
 *
 * Out: one sentence for each file that differs; empty where all is well.
 */
export function writeOrCheck(files: readonly GeneratedFile[], args: readonly string[]): string[] {
  if (!args.includes('--check')) {
    for (const { path, text } of files) writeFileSync(path, text)
    return []
  }
  return files
    .filter(({ path, text }) => readIfThere(path) !== text)
    .map(({ path }) => `${path} is not what the code says. Run \`npm run docs\` and commit the result.`)
}

/** Runs a generator as a program: arguments from the command line, exit code 1 and the sentences where files differ. */
export function generate(files: readonly GeneratedFile[]): void {
  const differing = writeOrCheck(files, process.argv.slice(2))
  for (const sentence of differing) console.error(sentence)
  if (differing.length > 0) process.exitCode = 1
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/**
 * A page with `text` as its section by `script`: what stands between the line that names the script and the end mark.
 *
 * Fails where the page has no such section.
 */
export function withSection(page: string, script: string, text: string): string {
  const begin = generatedBy(script)
  const from = page.indexOf(begin)
  const to = page.indexOf(SECTION_END, from)
  if (from === -1 || to === -1) throw new Error(`The page has no section between ${begin.trim()} and ${SECTION_END}.`)
  return `${page.slice(0, from + begin.length)}\n${text}\n\n${page.slice(to)}`
}

const SECTION_END = '<!-- The end of what is written. -->'
