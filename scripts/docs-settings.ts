/** Writes docs/settings.md and .env.example from the table of settings. `--check` compares instead. */
import { fileURLToPath } from 'node:url'
import { wrap } from '../src/settings/settings-help.ts'
import { SETTING_GROUPS } from '../src/settings/settings-table.ts'
import { generate, generatedBy } from './generated.ts'

const INTRODUCTION = `${generatedBy('scripts/docs-settings.ts')}
# Settings

The service is configured by environment variables. It also reads a file \`.env\` in the working directory, if there is
one; a variable of the environment overrides its line in the file. \`npm start -- --help\` prints this list.

Each setting is checked at start. Wrong values stop the start with exit code 1 and one line for each wrong setting. An empty
variable counts as not set. The log warns of unknown names that look like a setting, such as \`PARSER_LIMT\`, with the setting
that they resemble.

Times are in milliseconds. Sizes are in bytes, or in units of 1024: \`512kb\`, \`1mb\`.
`

function markdown(): string {
  const parts = [INTRODUCTION]
  for (const { title, settings } of SETTING_GROUPS) {
    parts.push(`\n## ${title}\n\n| setting | default | meaning | takes |\n|---|---|---|---|\n`)
    for (const { name, kind, means, default: text } of settings) {
      parts.push(`| \`${name}\` | ${text === '' ? 'not set' : `\`${text}\``} | ${means} | ${kind.accepts} |\n`)
    }
  }
  return parts.join('')
}

/** Every line is a comment, so that a copy of the file sets nothing by itself. */
function exampleFile(): string {
  const lines = [
    '# Settings of Crosswalk. Copy this file to .env and take the # from the lines that you change.',
    '# Written by scripts/docs-settings.ts; docs/settings.md has the same as a table.',
  ]
  for (const { title, settings } of SETTING_GROUPS) {
    lines.push('', `# --- ${title} ---`)
    for (const { name, kind, means, default: text } of settings) {
      lines.push('', ...wrap(`${means} Takes ${kind.accepts}.`.replaceAll('`', ''), '# ', 100), `#${name}=${text}`)
    }
  }
  return `${lines.join('\n')}\n`
}

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))

generate([
  { path: at('docs/settings.md'), text: markdown() },
  { path: at('.env.example'), text: exampleFile() },
])
