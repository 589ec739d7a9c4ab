import { listed, type Words } from './lists.ts';

export const pt: Words = {
  functionWords: listed(`ao aos as com da das do dos em eu fazer meu minha na nas nao nos o os ou pela pelo qual uma`),
  telling:
    listed(`aqui cartao chega chegou como conta custa devo devolver dias documentos e encomenda pessoas verifique confirme janela encontrei encontro endereco
    envio equipa esqueci esta falar fatura favor feito foi incluido isto ja mais me minhas morada mudar mudo muito
    nada numero obrigada obrigado ola onde outra pagamento para perdi pessoa pode por posso precisar que queria
    quero recebi reembolso reserva resposta sapatos se sem senha sobre tem tenho um vendem voces`),
  asking: [],
  joining: [],
  leaning: [],
};
