/** The fields of a FHIR resource, type by type: those of an object are asked for when it is opened, or when an entry writes in it. */

import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { queries } from '../../api/queries.ts'
import { queryClient } from '../../api/query-keys.ts'
import { notify } from '../../ui/states/notices.tsx'
import type { WantedOutput } from './dialogs/target-dialog.tsx'
import type { FieldNode, FieldTree, SampleField } from './model/field-tree.ts'
import { useStable } from './use-stable.ts'

/** The type of an object that may be any resource: somebody chooses which, or `resourceType` has it. */
export const ANY_RESOURCE = 'Resource'

/** Reads the fields of a type, as they are in an object that the output has always, or not. Fails with an ApiFailure. */
export function useReadFhirFields() {
  return async (type: string, within = '', isAlways = true): Promise<readonly SampleField[]> => {
    const { fields } = await queryClient.fetchQuery({
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

const findType = ({ of, children }: FieldNode): unknown =>
  of === ANY_RESOURCE ? children.find(({ name }) => name === 'resourceType')?.sample : of

/** Out: asks for the fields of an object, of a resource of the type if one is given. `onChoose`: a type must be chosen first. */
export function useFhirFields(
  tree: FieldTree,
  wanted: WantedOutput | undefined,
  onChange: (next: WantedOutput) => void,
  onChoose: (node: FieldNode) => void,
) {
  const readFields = useReadFhirFields()
  const types = useQuery({
    ...queries.fhirTypes,
    enabled: wanted?.kind === 'fhir',
    staleTime: Number.POSITIVE_INFINITY,
  })
  const add = useStable((found: readonly Readonly<{ place: string; fields: readonly SampleField[] }>[]) => {
    if (wanted === undefined) return
    const others = wanted.fields
      .filter(({ path }) => found.every(({ place }) => !path.startsWith(`${place}.`)))
      .map((field) => (found.some(({ place }) => place === field.path) ? { ...field, asked: true as const } : field))
    onChange({ ...wanted, fields: [...others, ...found.flatMap(({ fields }) => fields)] })
  })
  /** Fails with an ApiFailure. */
  const ask = async (nodes: readonly FieldNode[], type?: string) => {
    const read = nodes.map(async (node) => {
      const place = node.path + '[]'.repeat(node.lists)
      const fields = await readFields(type ?? String(findType(node)), `${place}.`, node.isRequired === true)
      const withType = (field: SampleField) =>
        field.path === `${place}.resourceType` ? { ...field, sample: type } : field
      return { place, fields: type === undefined ? fields : fields.map(withType) }
    })
    add(await Promise.all(read))
  }
  const tryAsking = useStable((nodes: readonly FieldNode[]) => {
    ask(nodes).catch((thrown: Error) => notify(thrown.message, 'warn'))
  })
  // Objects that entries write in are open.
  useEffect(() => {
    const resources: readonly unknown[] = types.data?.resources ?? []
    const open = [...tree.nodes.values()].filter(
      (node) =>
        node.isClosed && node.children.length > 0 && (node.of !== ANY_RESOURCE || resources.includes(findType(node))),
    )
    if (open.length > 0) tryAsking(open)
  }, [tree, types.data, tryAsking])
  return {
    ask,
    open: useStable((node: FieldNode) => {
      if (findType(node) === undefined) onChoose(node)
      else tryAsking([node])
    }),
  }
}
