/** The screen `deliveries`. */
import { texts } from '../../texts/texts.ts';

export default function Deliveries() {
  return (
    <main class="page">
      <h1>{texts.value.screens['deliveries']}</h1>
    </main>
  );
}
