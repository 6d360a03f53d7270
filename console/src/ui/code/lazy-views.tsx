/** Editors and comparisons, loaded by the first view that shows one. */
import { type ComponentType, lazy, Suspense } from 'react'
import { Loading } from '../states/states.tsx'

/** `what`: said while it loads. */
export function lazyView<Props extends object>(what: string, load: () => Promise<ComponentType<Props>>) {
  const View = lazy(async () => ({ default: (await load()) as ComponentType<object> }))
  return (props: Props) => (
    <Suspense fallback={<Loading what={what} />}>
      <View {...props} />
    </Suspense>
  )
}

export const LazyCodeEditor = lazyView('Loading the editor', async () => (await import('./code-editor.tsx')).CodeEditor)
export const LazyDiffView = lazyView('Loading the comparison', async () => (await import('./diff-view.tsx')).DiffView)
export const LazyTextDifference = lazyView(
  'Loading the comparison',
  async () => (await import('./text-difference.tsx')).TextDifference,
)
