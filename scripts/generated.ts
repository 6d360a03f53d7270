/** Files that scripts write from the code: they are committed for readers, and checked so that they cannot drift. */
import { readFileSync, writeFileSync } from 'node:fs'

export type GeneratedFile = Readonly<{ path: string; text: string }>

/** First line of generated Markdown. */
export const generatedBy = (script: string): string => `<!-- Written by ${script}: change that, not this. -->\n`

/** Writes each file, or compares it with `--check`. Out: one sentence for each file that differs. */
export function writeOrCheck(files: readonly GeneratedFile[], args: readonly string[]): string[] {
  if (!args.includes('--check')) {
    for (const { path, text } of files) writeFileSync(path, text)
    return []
  }
  return files
    .filter(({ path, text }) => readIfThere(path) !== text)
    .map(({ path }) => `${path} is not up to date. Run \`npm run docs\` and commit the result.`)
}

/** Runs a generator as a program: reports the files that differ, with exit code 1. */
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
 * Replaces the section of a page that `script` writes: the text between the line that names the script and the end mark.
 * Fails if the page has no such section.
 */
export function withSection(page: string, script: string, text: string): string {
  const start = generatedBy(script)
  const from = page.indexOf(start)
  const to = page.indexOf(SECTION_END, from)
  if (from === -1 || to === -1) throw new Error(`The page has no section between ${start.trim()} and ${SECTION_END}.`)
  return `${page.slice(0, from + start.length)}\n${text}\n\n${page.slice(to)}`
}

const SECTION_END = '<!-- The end of what is written. -->'
