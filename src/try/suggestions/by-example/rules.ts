/** What an entry of a derived document does for one place of the output. */
import type { Json, JsonObject } from '../../../core/json.ts'
import type { PathStep } from '../../../core/path-step.ts'
import { pathText } from '../../../language/paths/path-steps.ts'
import type { Place } from './source-values.ts'

export type Rule =
  | Readonly<{ kind: 'path'; place: Place; transform?: string; parameters?: JsonObject; default?: Json }>
  | Readonly<{ kind: 'constant'; value: Json }>
  /** `write`: the JSONata, given how it reads a place. `describe`: without what it asks of the values before it reads them. */
  | Readonly<{ kind: 'expression'; places: readonly Place[]; write: Write; describe?: Write }>

export type Write = (read: (place: Place) => string) => string

export const rulePlaces = (rule: Rule): readonly Place[] =>
  rule.kind === 'constant' ? [] : rule.kind === 'path' ? [rule.place] : rule.places

/** The families of rules, the plainest first: the first family that explains every example is taken. */
export const FAMILIES = [
  'path',
  'function',
  'text',
  'list',
  'date',
  'slice',
  'pick',
  'join',
  'number',
  'default',
  'codes',
  'constant',
] as const
export type Family = (typeof FAMILIES)[number]

/** A value that one message of four lacks is missing in one of so many, with a probability of 99 %. */
export const MIN_SHOWN = 17
/** From this score on, names are alike. */
export const NAMED = 0.5

export type Candidate = Readonly<{
  family: Family
  rule: Rule
  /** How much its names are like those of the target. */
  score: number
  /** Rules of one place with the same mark read it in other ways, which no pair tells apart. */
  reading?: string
  /** Of code lists: the less, the better. */
  rank?: number
}>

/** The roots of places, by their level; a place of a level in between cannot be read by a mapping. */
export function mappingPath({ level, steps }: Place, here: number): string {
  if (level === 0) return pathText(steps)
  return pathText([{ kind: 'name', name: level === here ? 'item' : 'outer' }, ...steps])
}

/** The path in JSONata, of which `[]` are no part: it reads every element of a list by itself. */
export const expressionPath = (root: string, steps: readonly PathStep[]): string =>
  steps.reduce((text, step) => {
    if (step.kind === 'each' || step.kind === 'any') return text
    if (step.kind === 'index') return `${text}[${step.index}]`
    return `${text}${text === '' ? '' : '.'}${quoteName(step.name)}`
  }, root)

export const quoteName = (name: string): string =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !['and', 'or', 'in', 'true', 'false', 'null'].includes(name)
    ? name
    : `\`${name}\``

/** A name that JSONata cannot quote. */
export const isUnsayable = ({ steps }: Place): boolean =>
  steps.some((step) => step.kind === 'name' && step.name.includes('`'))

export const textLiteral = (text: string): string => JSON.stringify(text)

/** As evidence and questions show it. */
export function describeRule(rule: Rule, level: number): string {
  if (rule.kind === 'constant') return `the constant ${JSON.stringify(rule.value)}`.slice(0, 200)
  if (rule.kind === 'expression') return (rule.describe ?? rule.write)((place) => mappingPath(place, level))
  const path = mappingPath(rule.place, level)
  const constant = rule.parameters?.default
  if (constant !== undefined) return `${JSON.stringify(constant)} where ${path} is there`
  const called = rule.transform === undefined ? path : `${rule.transform}(${path})`
  return rule.default === undefined ? called : `${called}, else ${JSON.stringify(rule.default)}`
}
