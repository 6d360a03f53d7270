/** The draft of one endpoint: its text with one undo history, whichever view it is edited in. */
import { history, isolateHistory, redo, redoDepth, undo, undoDepth } from '@codemirror/commands'
import { Compartment, EditorState, type Extension, type Transaction, type TransactionSpec } from '@codemirror/state'
import { createStore, type Store } from '../api/store.ts'
import { layOutDocument } from './document-layout.ts'

/** A part of the text that is replaced; places are those of the text before all edits. */
export type Edit = Readonly<{ from: number; to?: number; insert?: string }>

/** The stored document that the draft started from. */
export type DraftBase = Readonly<{
  /** Laid out as the editor shows it. */
  text: string
  /** An endpoint that is not stored yet has none. */
  etag?: string | undefined
}>

export type DraftNow = Readonly<{
  text: string
  base: DraftBase
  /** The text differs from that of the base. */
  isDirty: boolean
  canUndo: boolean
  canRedo: boolean
}>

/** What shows the text: a view of CodeMirror. */
export type DraftView = Readonly<{ update(transactions: readonly Transaction[]): void; destroy(): void }>

/** How the editor makes a view of it: with this state, and with every transaction given to `dispatch`. */
export type CreateView<View extends DraftView> = (
  given: Readonly<{ state: EditorState; dispatch(transactions: readonly Transaction[]): void }>,
) => View

export type Draft = Readonly<{
  /** The id of the endpoint, or NEW. */
  id: string
  now: Store<DraftNow>
  /** The state of CodeMirror as it is now. */
  state(): EditorState
  dispatch(spec: TransactionSpec): void
  /** Changes parts of the text as one step of undo. `select`: what is selected then, in places of the new text. */
  applyEdits(edits: readonly Edit[], select?: Readonly<{ from: number; to: number }>): void
  undo(): void
  redo(): void
  /** Puts another text in place of the whole one, as one step of undo. */
  replaceText(text: string): void
  /** Takes another stored document as the base of the draft: after publishing and merging. */
  setBase(base: DraftBase): void
  /** Shows the text in a view until that is detached; one at a time. */
  attach<View extends DraftView>(
    extensions: Extension,
    create: CreateView<View>,
  ): Readonly<{ view: View; detach(): void }>
}>

/** The id of the draft of an endpoint that is not stored yet. */
export const NEW = 'new'

/** In: what the service stores. Out: that with its text laid out. */
export const toDraftBase = (stored: Readonly<{ text: string; etag: string | undefined }>): DraftBase => ({
  text: layOutDocument(stored.text),
  etag: stored.etag,
})

/** `text`: what was typed already, if it is not that of the base. */
export function createDraft(id: string, base: DraftBase, text = base.text): Draft {
  const ofView = new Compartment()
  let view: DraftView | undefined
  let state = EditorState.create({
    doc: base.text,
    extensions: [history(), EditorState.allowMultipleSelections.of(true), ofView.of([])],
  })
  const now = createStore(describe(state, base))
  const apply = (transactions: readonly Transaction[]) => {
    const last = transactions.at(-1)
    if (last === undefined) return
    state = last.state
    view?.update(transactions)
    if (transactions.some(({ docChanged }) => docChanged)) now.set(describe(state, now.get().base))
  }
  const dispatch = (spec: TransactionSpec) => apply([state.update(spec)])
  const command = { dispatch: (transaction: Transaction) => apply([transaction]) }
  const applyEdits: Draft['applyEdits'] = (edits, select) =>
    dispatch({
      changes: edits.map(({ from, to, insert }) => ({ from, to: to ?? from, insert: insert ?? '' })),
      annotations: isolateHistory.of('full'),
      scrollIntoView: true,
      ...(select && { selection: { anchor: select.from, head: select.to } }),
    })
  const replaceText = (next: string) => {
    const edit = smallestEdit(state.doc.toString(), next)
    if (edit !== undefined) applyEdits([edit])
  }
  // What was typed before a reload can be undone, back to the stored document.
  replaceText(text)
  return {
    id,
    now,
    state: () => state,
    dispatch,
    applyEdits,
    undo: () => void undo({ state, ...command }),
    redo: () => void redo({ state, ...command }),
    replaceText,
    setBase: (next) => now.set(describe(state, next)),
    attach: (extensions, create) => {
      state = state.update({ effects: ofView.reconfigure(extensions) }).state
      const made = create({ state, dispatch: apply })
      view = made
      const detach = () => {
        made.destroy()
        if (view !== made) return
        view = undefined
        state = state.update({ effects: ofView.reconfigure([]) }).state
      }
      return { view: made, detach }
    },
  }
}

function describe(state: EditorState, base: DraftBase): DraftNow {
  const text = state.doc.toString()
  return { text, base, isDirty: text !== base.text, canUndo: undoDepth(state) > 0, canRedo: redoDepth(state) > 0 }
}

/** The one edit between what two texts have in common at their start and at their end; undefined if they are the same. */
export function smallestEdit(before: string, after: string): Required<Edit> | undefined {
  if (before === after) return undefined
  const max = Math.min(before.length, after.length)
  let start = 0
  while (start < max && before[start] === after[start]) start += 1
  let end = 0
  while (end < max - start && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) }
}
