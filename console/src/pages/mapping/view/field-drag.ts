/** Dragging a field to a target, by mouse, finger or keys. */
import { useMemo, useRef } from 'react'
import { type DragAndDropHooks, useDragAndDrop } from 'react-aria-components/useDragAndDrop'
import type { FieldNode } from '../model/field-tree.ts'
import { useStable } from '../use-stable.ts'

const FIELD = 'application/x-crosswalk-field'

export type FieldDrag = Readonly<{ source: DragAndDropHooks<FieldNode>; target: DragAndDropHooks<FieldNode> }>

/** Out: what the two trees need; the same as long as the page is shown. In: the ids of the fields that are to be connected. */
export function useFieldDrag(onDrop: (from: string, to: string) => void): FieldDrag {
  const dragged = useRef<string>(undefined)
  const drop = useStable((to: string) => {
    if (dragged.current !== undefined) onDrop(dragged.current, to)
  })
  const options = useMemo(() => {
    const source: Parameters<typeof useDragAndDrop<FieldNode>>[0] = {
      getItems: (_keys, items) => items.map(({ path }) => ({ [FIELD]: path, 'text/plain': path })),
      onDragStart: ({ keys }) => {
        dragged.current = [...keys].map(String)[0]
      },
      getAllowedDropOperations: () => ['link'],
    }
    const target: typeof source = {
      acceptedDragTypes: [FIELD],
      getDropOperation: (to, types) =>
        to.type === 'item' && to.dropPosition === 'on' && types.has(FIELD) ? 'link' : 'cancel',
      onItemDrop: ({ target: to }) => drop(String(to.key)),
    }
    return { source, target }
  }, [drop])
  const source = useDragAndDrop<FieldNode>(options.source).dragAndDropHooks
  const target = useDragAndDrop<FieldNode>(options.target).dragAndDropHooks
  return useMemo(() => ({ source, target }), [source, target])
}
