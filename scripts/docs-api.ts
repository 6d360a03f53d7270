/** Writes the table of calls in docs/management.md from the table of routes. `--check` compares instead. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { listFailures, shownPath } from '../src/api/openapi.ts'
import type { Route } from '../src/api/route.ts'
import { ADMIN_ROUTES, ENDPOINT_ROUTES } from '../src/api/routes.ts'
import { generate, withSection } from './generated.ts'

const PAGE = fileURLToPath(new URL('../docs/management.md', import.meta.url))

const ROLES: Readonly<Record<string, string>> = {
  open: 'anyone',
  metrics: 'viewer, or a caller on this machine',
  sender: 'viewer, or on the message port who may send to the endpoint',
}

function row(route: Route): string {
  const { method, role, summary = '' } = route
  const ports = ENDPOINT_ROUTES.includes(route) ? 'both' : 'admin'
  const codes = listFailures(route).map((code) => `\`${code}\``)
  const cells = [`\`${method} ${shownPath(route)}\``, ports, ROLES[role] ?? role, summary, codes.join(' ')]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

const shown = ADMIN_ROUTES.filter(({ summary }) => summary !== undefined)

const table = `| call | port | role | what it does | its failures |
|---|---|---|---|---|
${shown.map(row).join('\n')}`

generate([{ path: PAGE, text: withSection(readFileSync(PAGE, 'utf8'), 'scripts/docs-api.ts', table) }])
