/** The settings as `--help` shows them. */
import { SETTING_GROUPS } from './settings-table.ts'

/** All settings with their defaults, in lines of at most 80 columns. */
export function settingsHelp(): string {
  const lines = ['Settings (environment variables, or lines of a .env file), with their defaults:']
  for (const { title, settings } of SETTING_GROUPS) {
    lines.push('', `${title}:`)
    for (const setting of settings) {
      lines.push(`  ${setting.name}=${setting.default}`)
      lines.push(...wrap(`${setting.means} Takes ${setting.kind.accepts}.`.replaceAll('`', ''), '      ', 80))
    }
  }
  return `${lines.join('\n')}\n`
}

/** Breaks a text at its spaces into lines of at most `columns`, each with the indent. */
export function wrap(text: string, indent: string, columns: number): string[] {
  const lines: string[] = []
  let line = indent
  for (const word of text.split(' ')) {
    if (line !== indent && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = indent
    }
    line += line === indent ? word : ` ${word}`
  }
  return [...lines, line]
}
