/** The one history of a draft, whichever pane shows it. */
import type { Draft, DraftNow } from '../../../draft/draft.ts'
import { Button } from '../../../ui/controls/button.tsx'

export const UndoButtons = ({ draft, now }: Readonly<{ draft: Draft; now: DraftNow }>) => (
  <>
    <Button
      text="Undo"
      tone="quiet"
      refused={now.canUndo ? undefined : 'There is nothing to undo.'}
      onPress={draft.undo}
    />
    <Button
      text="Redo"
      tone="quiet"
      refused={now.canRedo ? undefined : 'There is nothing to redo.'}
      onPress={draft.redo}
    />
  </>
)
