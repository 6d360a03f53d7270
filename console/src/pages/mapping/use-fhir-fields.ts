/** The fields of a FHIR resource, type by type: those of an object are asked for when it is opened, or when an entry writes in it. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { queries } from '../../api/queries.ts'
import { notify } from '../../ui/states/notices.tsx'
import type { WantedOutput } from './dialogs/target-dialog.tsx'
import type { FieldNode, FieldTree, SampleField } from './model/field-tree.ts'
import { useStable } from './use-stable.ts'

/** Reads the fields of a type, as they are in an object that the output has always, or not. Fails with an ApiFailure. */
export function useReadFhirFields() {
  const client = useQueryClient()
  return async (type: string, within = '', isAlways = true): Promise<readonly SampleField[]> => {
    const { fields } = await client.fetchQuery({
      ...queries.fhirShape(type),
      staleTime: Number.POSITIVE_INFINITY,
    })
    return fields.map(({ path, required, ...field }) => ({
      ...field,
      path: within + path,
      ...(required && { required: isAlways || 'within' }),
    }))
  }
}

/** Out: asks for the fields of an object. */
export function useFhirFields(
  tree: FieldTree,
  wanted: WantedOutput | undefined,
  onChange: (next: WantedOutput) => void,
) {
  const readFields = useReadFhirFields()
  const add = useStable((paths: ReadonlySet<string>, more: readonly SampleField[]) => {
    if (wanted === undefined) return
    const fields = wanted.fields.map((field) => (paths.has(field.path) ? { ...field, asked: true as const } : field))
    onChange({ ...wanted, fields: [...fields, ...more] })
  })
  const ask = useStable(async (nodes: readonly FieldNode[]) => {
    try {
      const read = nodes.map(async ({ path, lists, of = '', isRequired }) => {
        const place = path + '[]'.repeat(lists)
        return { place, fields: await readFields(of, `${place}.`, isRequired === true) }
      })
      const found = await Promise.all(read)
      add(
        new Set(found.map(({ place }) => place)),
        found.flatMap(({ fields }) => fields),
      )
    } catch (thrown) {
      notify((thrown as Error).message, 'warn')
    }
  })
  // Objects that entries write in are open.
  useEffect(() => {
    const open = [...tree.nodes.values()].filter(({ isClosed, children }) => isClosed && children.length > 0)
    if (open.length > 0) void ask(open)
  }, [tree, ask])
  return useStable((node: FieldNode) => void ask([node]))
}
