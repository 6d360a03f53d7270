/** The parts of a document that one goes to: its fields, transforms, requests and entries. */
import { listMembers, memberNamed, readTree } from '../../../draft/json-places.ts'

export type OutlineRow = Readonly<{ title: string; depth: 0 | 1; from: number; to: number; detail: string }>

const WITH_ROWS: ReadonlySet<string> = new Set(['inputTransforms', 'inputMapping', 'constants'])
const MAX_ROWS = 500

export function documentOutline(text: string): readonly OutlineRow[] {
  const rows = listMembers(readTree(text)).flatMap(({ name, key, value }): readonly OutlineRow[] => {
    const own = {
      title: name,
      depth: 0,
      from: key.offset,
      to: key.offset + key.length,
      detail: summarizeValue(value),
    } as const
    if (WITH_ROWS.has(name)) {
      return [
        own,
        ...listMembers(value).map((one) => ({
          title: one.name,
          depth: 1 as const,
          from: one.key.offset,
          to: one.key.offset + one.key.length,
          detail: '',
        })),
      ]
    }
    if (name !== 'requests') return [own]
    return [
      own,
      ...listMembers(value).flatMap((list) =>
        (list.value.children ?? []).map((one, index) => ({
          title: `${list.name} ${String(memberNamed(one, 'id')?.value ?? index)}`,
          depth: 1 as const,
          from: one.offset,
          to: one.offset + 1,
          detail: '',
        })),
      ),
    ]
  })
  return rows.slice(0, MAX_ROWS)
}

function summarizeValue(value: Readonly<{ type: string; value?: unknown; children?: readonly unknown[] }>): string {
  if (value.type === 'string') return String(value.value).slice(0, 40)
  return value.children === undefined || value.children.length === 0 ? '' : String(value.children.length)
}
