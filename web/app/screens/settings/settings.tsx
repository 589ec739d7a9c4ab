/** The screen `settings`. */
import { texts } from '../../texts/texts.ts';

export default function Settings() {
  return (
    <main class="page">
      <h1>{texts.value.screens['settings']}</h1>
    </main>
  );
}
