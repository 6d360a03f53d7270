/** Chooses the rule for one place of the output, and says how sure that is. */
import { findDates, HALF_YEAR } from './date-rules.ts'
import { findDecimals, findNumbers } from './number-rules.ts'
import { type Candidate, describeRule, FAMILIES, MIN_SHOWN, mappingPath, NAMED, rulePlaces } from './rules.ts'
import { Search, samePlace, type Target } from './search.ts'
import { ABSENT, type Budget, type Place, type Scope, spend, type Values, weigh } from './source-values.ts'
import { findCases, findJoins, findSlices } from './text-rules.ts'
import {
  findCodes,
  findConstants,
  findConversions,
  findDefaults,
  findListValues,
  findPaths,
  findPicks,
  mayBeCode,
} from './value-rules.ts'

/** Why a place of the output is a question. */
export const DOUBTS = {
  unexplained: 'No rule explains what the pairs have here.',
  accident: 'The pairs have too few different values to tell this from an accident.',
  ambiguous: 'Several places of the message, or several rules, explain every pair; others may differ.',
  missing: 'No pair shows what is here where the values that it is made of are missing in part.',
  once: 'One pair alone has a value here.',
  constant: 'Every pair has the same value here, and a place of the message has one value in every pair too.',
  unread: 'Nothing reads some values of the message that may decide what is here.',
  all: 'Every element of the list makes one here, and no pair shows that some are left out.',
  always: 'Every pair has a value here. Without the values that it is made of, there is none.',
  codes: 'Codes that no pair has are left out; add them.',
  number:
    'Every pair has a number here. A message with another text, such as <0.5, fails; without one, there is nothing.',
  empty: 'No pair shows what an empty list becomes.',
  single: 'The pairs do not show both one element and several in this list.',
  redacted: 'The pairs have what was redacted here, or a credential of the message.',
  refused: 'What was derived gave another value when it ran.',
} as const
export type Doubt = keyof typeof DOUBTS

export type Choice = Readonly<{
  candidate: Candidate
  /** The others that explain every pair, the best first. */
  others: readonly Candidate[]
  doubt?: Doubt
}>

/** Bits below which a match may be an accident, if the names do not speak for it, and if they do. */
export const MIN_BITS = 14
const MIN_BITS_NAMED = 5
/** A constant may come from a place with the same value if it is as long as a name or a number of an order. */
const MIN_TELLING_BITS = 16

/** An expression is compiled with the document. */
const COMPILING_UNITS = 3_000

const FINDERS: readonly ((search: Search) => void)[] = [
  findPaths,
  findConversions,
  findCases,
  findDecimals,
  findDates,
  findListValues,
  findPicks,
  findSlices,
  findJoins,
  findNumbers,
  findDefaults,
  findCodes,
  findConstants,
]
/** What may give the same value in every row for another reason than that it is constant. */
const CONSTANT_FINDERS = [findCases, findDates, findPicks, findJoins]

/** Out: undefined if no rule explains every row. */
export function chooseRule(target: Target, scope: Scope, values: Values, budget: Budget): Choice | undefined {
  const search = new Search(target, scope, values, budget)
  if (search.sample === -1) return undefined
  if (search.isConstant) return chooseForConstant(search)
  for (const find of FINDERS) {
    find(search)
    if (search.found.length > 0) {
      const choice = choose(search, sorted(search))
      const { rule } = choice.candidate
      return rule.kind !== 'expression' || spend(budget, COMPILING_UNITS) ? choice : undefined
    }
    if (!spend(budget, 1)) return undefined
  }
  return undefined
}

function chooseForConstant(search: Search): Choice | undefined {
  const { value } = search
  const bits = weigh(value)
  findPaths(search)
  if (bits >= MIN_TELLING_BITS && search.found.length === 0 && typeof value === 'string') {
    for (const find of CONSTANT_FINDERS) {
      find(search)
      if (search.found.length > 0) break
    }
  }
  const paths = sorted(search)
  search.found.length = 0
  if (paths.length === 0 && typeof value !== 'string') {
    for (const find of [findConversions, findListValues]) find(search)
  }
  const computed = sorted(search)
  search.found.length = 0
  findConstants(search)
  const [path] = paths
  // The place that has the value itself says more than those that are there with it.
  const constants = sorted(search).filter(({ rule }) => path === undefined || rule.kind === 'constant')
  const [constant] = constants
  if (path !== undefined && (constant === undefined || path.score >= NAMED || bits >= MIN_TELLING_BITS)) {
    const doubt = path.score >= NAMED ? undefined : ('constant' as const)
    return { candidate: path, others: [...paths.slice(1), ...constants], ...(doubt && { doubt }) }
  }
  if (constant === undefined) return undefined
  const others = [...paths, ...computed]
  const { rule } = constant
  const isOfCode =
    rule.kind === 'path' && mayBeCode(value) && search.target.ids.length < MIN_SHOWN && readsCode(search, rule.place)
  return {
    candidate: constant,
    others: [...others, ...constants.slice(1)],
    ...((others.length > 0 || isOfCode) && { doubt: 'constant' as const }),
  }
}

/** The place has codes, so a constant that is there with it may be what they become. */
const readsCode = (search: Search, place: Place): boolean => {
  const column = [...search.columns()].find((one) => one.place === place)
  return column !== undefined && mayBeCode(search.at(column, search.sample))
}

function sorted({ found, scope }: Search): readonly Candidate[] {
  const key = new Map(found.map((one) => [one, describeRule(one.rule, scope.level)]))
  const levelOf = ({ rule }: Candidate) => (rule.kind === 'path' ? rule.place.level : 0)
  const known = new Set<string>()
  const isFirst = (one: Candidate) => !known.has(String(key.get(one))) && known.add(String(key.get(one)))
  return found
    .filter(isFirst)
    .sort(
      (one, other) =>
        FAMILIES.indexOf(one.family) - FAMILIES.indexOf(other.family) ||
        (one.rank ?? 0) - (other.rank ?? 0) ||
        Math.round(other.score * 20) - Math.round(one.score * 20) ||
        levelOf(other) - levelOf(one) ||
        depthOf(one) - depthOf(other) ||
        found.indexOf(one) - found.indexOf(other) ||
        (String(key.get(one)) < String(key.get(other)) ? -1 : 1),
    )
}

const depthOf = ({ rule }: Candidate): number =>
  rule.kind === 'path' ? rule.place.steps.length : rule.kind === 'expression' ? 10 * rule.places.length : 0

function choose(search: Search, found: readonly Candidate[]): Choice {
  const [candidate, ...rest] = found as readonly [Candidate, ...Candidate[]]
  const others = [...rest]
  const { ids } = search.target
  const distinct = [...new Set(ids)].filter((id) => id !== ABSENT)
  const bits = distinct.reduce((sum, id) => sum + weigh(search.values.value(id)), 0)
  const isNamed = candidate.score >= NAMED
  const doubt = (): Doubt | undefined => {
    // Where each code is seen once, they go with anything.
    const isSeenAgain = ({ rule }: Candidate) =>
      rule.kind === 'path' && Object.keys(rule.parameters ?? {}).length < ids.filter((id) => id !== ABSENT).length
    if (candidate.family === 'codes')
      return others.some((one) => isSeenAgain(one) || !isSeenAgain(candidate)) ? 'ambiguous' : 'codes'
    if (bits < (isNamed ? MIN_BITS_NAMED : MIN_BITS)) return 'accident'
    const { rule } = candidate
    if (rule.kind === 'path' && rule.place.steps.some(({ kind }) => kind === 'index')) {
      const picks = findTellingPicks(search, rule.place)
      others.unshift(...picks)
      if (picks.length > 0) return 'ambiguous'
    }
    if (rule.kind === 'path' && candidate.family === 'default') {
      const id = search.values.id(rule.default)
      if (ids.filter((one) => one === id).length === 1) return 'once'
    }
    const isRounded = candidate.family === 'number' && rule.kind === 'expression' && rule.places.length === 1
    if (isRounded && others.some((one) => one.family === 'number' && !isOtherPlace(one, candidate))) return 'ambiguous'
    const isReadOtherwise = (one: Candidate) =>
      one.reading !== undefined && one.reading === candidate.reading && !isOtherPlace(one, candidate)
    if (candidate.reading === HALF_YEAR || others.some(isReadOtherwise)) return 'ambiguous'
    const rivals = others.filter(
      (one) => one.family === candidate.family && one.score > candidate.score - 0.1 && isOtherPlace(one, candidate),
    )
    return rivals.length > 0 && candidate.score < 0.95 ? 'ambiguous' : undefined
  }
  const found1 = doubt()
  return { candidate, others, ...(found1 && { doubt: found1 }) }
}

/** An element at a position that could as well be the one with a certain code. */
function findTellingPicks(search: Search, { steps }: Place): readonly Candidate[] {
  const at = steps.findLastIndex(({ kind }) => kind === 'index')
  const before = search.found.length
  findPicks(search, (place) => samePlace(place.steps, [...steps.slice(0, at), { kind: 'each' }]))
  return search.found.splice(before)
}

const isOtherPlace = ({ rule: one }: Candidate, { rule: other }: Candidate): boolean =>
  placeKey(one) !== placeKey(other)

export const placeKey = (rule: Candidate['rule']): string =>
  rulePlaces(rule)
    .map(({ level, steps }) => `${level} ${mappingPath({ level: 0, steps }, 0)}`)
    .join('\n')
