/** The page on which a support team works. It uses only the public API. */
import { render } from 'preact';
import { App } from './screens/app.tsx';
import { begin } from './state/begin.ts';
import { speak } from './texts/texts.ts';

await speak(navigator.languages);
render(<App />, document.getElementById('app')!);
await begin();
