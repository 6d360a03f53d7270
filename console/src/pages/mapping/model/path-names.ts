/** Paths of entries by the grammar of the service itself, as names with the lists between them. */
import { parseTarget } from '../../../../../src/language/mapping/target.ts'
import { type PathStep, parseSteps, pathText } from '../../../../../src/language/paths/path-steps.ts'

/** A name with the brackets that follow it. */
export type Segment = Readonly<{ name: string; brackets: readonly PathStep[] }>

const ANY = '*'

function toSegments(steps: readonly PathStep[]): readonly Segment[] {
  const segments: { name: string; brackets: PathStep[] }[] = []
  for (const step of steps) {
    if (step.kind === 'name') segments.push({ name: step.name, brackets: [] })
    else if (step.kind === 'any') segments.push({ name: ANY, brackets: [] })
    else segments.at(-1)?.brackets.push(step)
  }
  return segments
}

export function sourceSegments(path: string): readonly Segment[] | undefined {
  const steps = parseSteps(path, 'path')
  return steps.ok ? toSegments(steps.value) : undefined
}

/** Without the marks at the end. Undefined if the text isn't a target. */
export function targetSegments(key: string): readonly Segment[] | undefined {
  const target = parseTarget(key)
  return target.ok ? toSegments(target.value.steps) : undefined
}

/** A name as a step of a path. */
export const nameText = (name: string): string => pathText([{ kind: name === ANY ? 'any' : 'name', name }])

/** A target that ends in a question mark would write null. */
export const asTarget = (path: string): string => (path.endsWith('?') ? `${path.slice(0, -1)}\\?` : path)

/** Replaces the `[]` at these places, counted from 0, by `[0]`. */
export function takeFirstOfLists(path: string, which: (index: number) => boolean): string {
  const steps = parseSteps(path, 'path')
  if (!steps.ok) return path
  let index = -1
  return pathText(
    steps.value.map((step) => {
      if (step.kind !== 'each') return step
      index += 1
      return which(index) ? { kind: 'index', index: 0 } : step
    }),
  )
}

export function listsIn(path: string): number {
  const steps = parseSteps(path, 'path')
  return steps.ok ? steps.value.filter(({ kind }) => kind === 'each').length : 0
}
