/** Words of Portuguese. */
import { listed, type Words } from './lists.ts';

export const pt: Words = {
  functionWords: listed(`ao aos as com da das do dos em eu fazer meu minha na nas nao nos o os ou pela pelo qual uma`),
  telling:
    listed(`a cartao chega conta e encomenda endereco esqueci esta fatura foi ja mais me minhas numero obrigado onde
    pagamento para perdi por posso que quero recebi se sem senha tem tenho um voces`),
  asking: [],
  joining: [],
  leaning: [],
};
