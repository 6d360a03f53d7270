/** The lines of the `.env` file that hold the credentials which an import takes out of documents. */
import { parseEnv } from 'node:util'
import type { SecretLine } from '../conversion.ts'

export type EnvText = Readonly<{
  text: string
  /** Names whose values no line of a `.env` file can hold. */
  unwritable: readonly string[]
  /** Names that had another value in the earlier file. */
  changed: readonly string[]
}>

const HEAD = `# Credentials that \`crosswalk import\` took out of the documents. Keep this file out of version control.
# Add the lines to the .env file of the service, or set the variables in another way.
`

/** In: the file of an earlier import, if there is one: its other lines stay. */
export function envText(secrets: readonly SecretLine[], earlier: string | undefined): EnvText {
  const kept = parseEnv(earlier ?? '')
  const values = new Map(Object.entries(kept).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  const changed: string[] = []
  for (const { name, value } of secrets) {
    if (values.has(name) && values.get(name) !== value) changed.push(name)
    values.set(name, value)
  }
  const unwritable: string[] = []
  const lines = [...values].map(([name, value]) => {
    const line = lineOf(name, value)
    if (line === undefined) unwritable.push(name)
    return line ?? `# ${name} has a value that such a file cannot hold: set the variable in another way.\n`
  })
  return { text: HEAD + lines.join(''), unwritable, changed }
}

/** The first way to quote the value that Node.js reads as the same value; its rules of quoting are not those of shells. */
function lineOf(name: string, value: string): string | undefined {
  const lines = [value, `'${value}'`, `"${value}"`, `\`${value}\``].map((written) => `${name}=${written}\n`)
  return lines.find((line) => {
    const read = parseEnv(line)
    return read[name] === value && Object.keys(read).length === 1
  })
}
