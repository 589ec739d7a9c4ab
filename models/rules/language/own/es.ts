import type { Own } from './own.ts';

export const es: Own = {
  called: 'He avisado a una persona del equipo. Le responderá aquí.',
  away: 'El equipo no está en este momento. Vuelve el {when}.',
  greeting: '¡Hola! ¿Qué desea saber?',
  thanks: 'De nada. ¿Desea saber algo más?',
  farewell: 'Hasta luego, y escriba de nuevo cuando lo necesite.',
  help: 'Por supuesto. Respondo a preguntas con los documentos que tengo. ¿Qué desea saber?',
  small_talk: 'Gracias por preguntar. Estoy aquí para preguntas sobre nuestro servicio. ¿Qué desea saber?',
  bot: 'Soy un asistente automático y respondo con los documentos que tengo. Si prefiere una persona, pídala, y la avisaré.',
  insult:
    'Siento que esto no vaya bien. Puede preguntarlo con otras palabras o pedir hablar con una persona, y la avisaré.',
  notFound:
    'No he encontrado una respuesta a esto en los documentos que tengo. Puede preguntarlo con otras palabras o pedir hablar con una persona, y la avisaré.',
  notFoundAgain:
    'Tampoco he encontrado una respuesta a esto, así que he avisado a una persona del equipo. Le responderá aquí.',
  outOfOrder: 'En este momento no puedo consultarlo, así que he avisado a una persona del equipo. Le responderá aquí.',
  memberAsked: 'Primero alguien del equipo tiene que aprobarlo. Se lo diré aquí en cuanto esté decidido.',
  actionDone: 'Hecho.',
  actionFailed:
    'No ha funcionado. Por lo que veo, no se ha cambiado nada; puede intentarlo de nuevo o pedir hablar con una persona.',
  actionUnknown:
    'No sé si esto se ha llevado a cabo, así que no lo intentaré de nuevo. He avisado a una persona del equipo, que lo comprobará y le responderá aquí.',
  actionDeclined: 'De acuerdo, no se ha hecho nada.',
  actionExpired: 'No se confirmó a tiempo, así que no se ha hecho nada. Pídalo de nuevo si aún lo desea.',
  actionRefused: 'El equipo no lo ha aprobado, así que no se ha hecho nada.',
  signInFirst: 'Para esto necesito saber quién es usted. Inicie sesión y vuelva a preguntar.',
  personOnly: 'Solo una persona puede hacer esto, así que he avisado a una del equipo. Le responderá aquí.',
  needsMore: 'Puedo ocuparme de eso. Indíqueme, por favor:',
  overTestLimit:
    'Esta es una conversación de prueba, y la organización ha agotado las respuestas que el modo de prueba permite en un minuto. Vuelva a preguntar dentro de un minuto.',
  nothingFound: 'No he encontrado nada sobre esto en los documentos disponibles.',
  mayHelp: 'Esto podría ayudarle:',
  nothingMore: 'Mis documentos no dicen sobre esto más de lo que he escrito arriba.',
  newer: '(Según «{a}»; «{b}», más antiguo, dice otra cosa.)',
  otherLanguage: 'Esto es lo que dicen nuestros documentos, en otro idioma:',
};
