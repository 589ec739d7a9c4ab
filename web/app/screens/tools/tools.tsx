/** The screen `tools`. */
import { texts } from '../../texts/texts.ts';

export default function Tools() {
  return (
    <main class="page">
      <h1>{texts.value.screens['tools']}</h1>
    </main>
  );
}
