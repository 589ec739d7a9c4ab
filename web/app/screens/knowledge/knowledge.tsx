/** The screen `knowledge`. */
import { texts } from '../../texts/texts.ts';

export default function Knowledge() {
  return (
    <main class="page">
      <h1>{texts.value.screens['knowledge']}</h1>
    </main>
  );
}
