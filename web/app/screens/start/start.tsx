/** The screen `start`. */
import { texts } from '../../texts/texts.ts';

export default function Start() {
  return (
    <main class="page">
      <h1>{texts.value.screens['start']}</h1>
    </main>
  );
}
