/** The settings of what documents may refer to and where their requests may go. */
import { type EgressRule, parseEgressRule } from '../../domain/egress/egress-policy.ts'
import { fault, found } from '../../domain/lint.ts'
import type { Setting } from '../setting-kinds.ts'
import { choice, type Kind } from '../setting-kinds.ts'

const itemsOf = (text: string): string[] => text.split(',').flatMap((item) => item.trim() || [])

/** Names of variables, and folders, which begin with a slash. */
const secretsAllowed: Kind<Readonly<{ names: readonly string[]; folders: readonly string[] }>> = {
  accepts:
    'names of variables, in which `*` stands for any characters, and absolute paths of folders, joined by commas, or `none`',
  parse: (text) => {
    const items = text.toLowerCase() === 'none' ? [] : itemsOf(text)
    const folders = items.filter((item) => item.startsWith('/'))
    const names = items.filter((item) => !item.startsWith('/'))
    const isFolder = (path: string): boolean => /^(?:\/[^/]+)+\/?$/.test(path) && !/\/\.\.?(?:\/|$)/.test(path)
    return names.every((name) => /^[A-Za-z0-9_*]+$/.test(name)) && folders.every(isFolder)
      ? found({ names, folders })
      : fault(`Give ${secretsAllowed.accepts}.`)
  },
}

const egressRules: Kind<readonly EgressRule[]> = {
  accepts:
    'nothing, or hosts (`api.example.org`, `*.example.org`, `*`), addresses and ranges (`10.1.0.0/16`), each with or without a port (`:443`, `:8000-8099`), joined by commas; IPv6 with a port in brackets',
  parse: (text) => {
    const rules = itemsOf(text).map(parseEgressRule)
    return rules.every((rule) => rule !== undefined) ? found(rules) : fault(`Give ${egressRules.accepts}.`)
  },
}

export const secrets = {
  secretsAllowed: {
    name: 'SECRETS_ALLOW',
    kind: secretsAllowed,
    default: 'CROSSWALK_SECRET_*,/run/secrets/crosswalk',
    means: `What documents may refer to as \`\${env:NAME}\` and \`\${file:/path}\`: variables of the environment, and files in folders or below them.`,
  },
} as const satisfies Record<string, Setting<unknown>>

export const egress = {
  egressAllow: {
    name: 'EGRESS_ALLOW',
    kind: egressRules,
    default: '',
    means:
      'Where lookup and response requests may go; where it is set, nowhere else. Its addresses and ranges are allowed under `EGRESS_PRIVATE=deny` too, its hosts only with public addresses.',
  },
  egressDeny: {
    name: 'EGRESS_DENY',
    kind: egressRules,
    default: '',
    means:
      'Where lookup and response requests may not go, whatever `EGRESS_ALLOW` says. Link-local addresses and those at which clouds serve credentials are denied always.',
  },
  egressPrivate: {
    name: 'EGRESS_PRIVATE',
    kind: choice('allow', 'deny'),
    default: 'allow',
    means:
      '`deny`: lookup and response requests go to public addresses only: not to this machine, nor to private or otherwise reserved ranges.',
  },
} as const satisfies Record<string, Setting<unknown>>
