import type { Own } from './own.ts';

export const pt: Own = {
  called: 'Chamei uma pessoa da equipa. Responderá aqui.',
  away: 'A equipa não está neste momento. Volta: {when}.',
  greeting: 'Olá! O que gostaria de saber?',
  thanks: 'De nada. Gostaria de saber mais alguma coisa?',
  farewell: 'Até logo, e escreva de novo quando precisar.',
  help: 'Claro. Respondo a perguntas com os documentos que recebi. O que gostaria de saber?',
  small_talk: 'Obrigado por perguntar. Estou aqui para perguntas sobre o nosso serviço. O que gostaria de saber?',
  bot: 'Sou um assistente automático e respondo com os documentos que recebi. Se preferir uma pessoa, peça-a, e eu chamo-a.',
  insult:
    'Lamento que isto não esteja a correr bem. Pode perguntar por outras palavras ou pedir para falar com uma pessoa, e eu chamo-a.',
  notFound:
    'Não encontrei resposta a isto nos documentos que tenho. Pode perguntar por outras palavras ou pedir para falar com uma pessoa, e eu chamo-a.',
  notFoundAgain: 'Também não encontrei resposta a isto, por isso chamei uma pessoa da equipa. Responderá aqui.',
  outOfOrder: 'De momento não consigo verificar isto, por isso chamei uma pessoa da equipa. Responderá aqui.',
  memberAsked: 'Primeiro alguém da equipa tem de concordar. Digo-lhe aqui assim que estiver decidido.',
  actionDone: 'Está feito.',
  actionFailed: 'Não funcionou. Tanto quanto vejo, nada foi alterado; pode tentar de novo ou pedir uma pessoa.',
  actionUnknown:
    'Não sei se isto foi executado, por isso não tento de novo. Chamei uma pessoa da equipa, que vai verificar e responder aqui.',
  actionDeclined: 'Muito bem, nada foi feito.',
  actionExpired: 'Não foi confirmado a tempo, por isso nada foi feito. Peça de novo se ainda o desejar.',
  actionRefused: 'A equipa não concordou, por isso nada foi feito.',
  signInFirst: 'Para isto preciso de saber quem é. Inicie sessão e pergunte de novo.',
  personOnly: 'Só uma pessoa pode fazer isto, por isso chamei uma da equipa. Responderá aqui.',
  needsMore: 'Posso tratar disso. Indique-me, por favor:',
  overTestLimit:
    'Esta é uma conversa de teste, e a organização esgotou as respostas que o modo de teste permite num minuto. Pergunte de novo dentro de um minuto.',
  nothingFound: 'Não encontrei nada sobre isto nos documentos disponíveis.',
  mayHelp: 'Isto pode ajudar:',
  nothingMore: 'Os meus documentos não dizem sobre isto mais do que escrevi acima.',
  newer: '(Segundo «{a}»; «{b}», mais antigo, diz outra coisa.)',
  otherLanguage: 'Os nossos documentos dizem-no noutra língua:',
};
