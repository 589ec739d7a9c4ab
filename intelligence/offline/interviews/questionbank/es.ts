/** The question templates in Spanish. bank.ts describes the fields. */
import type { Bank } from './bank.ts';

export const es: Bank = {
  opening: {
    named: 'Preséntese, por favor. ¿Cuál de sus experiencias es la más importante para el puesto de {role}?',
    plain: 'Preséntese, por favor. ¿Cuál de sus experiencias es la más importante para este puesto?',
  },

  aboutSkill: {
    introduction: ['Este puesto pide «{skill}». ¿Dónde lo ha necesitado hasta ahora?'],
    technical: [
      'junior: Este puesto pide «{skill}». ¿Qué preparación tiene para ello?',
      'mid: Para nosotros es importante «{skill}». ¿Qué destacaría de su trabajo en ese sentido?',
      'senior: Según su experiencia, ¿qué se suele subestimar en el tema «{skill}»?',
      'lead: Suponga que contrata a alguien para este puesto. ¿Cómo comprobaría «{skill}»?',
      'Este puesto incluye «{skill}». ¿Qué aporta usted, y qué tendría que aprender todavía?',
    ],
    behavioral: [
      'junior, mid: Este puesto pide «{skill}». Háblenos de una situación en el trabajo en la que fue importante.',
      'senior, lead: Este puesto pide «{skill}». Háblenos de una situación en el trabajo en la que mucho dependía de ello.',
    ],
  },

  aboutCriterion: [
    'También nos fijamos en «{criterion}». ¿Qué ejemplo de su trabajo nos daría?',
    '¿Qué diría de usted su último equipo sobre el tema «{criterion}»?',
  ],

  aboutQuote: {
    achievement: [
      'Su currículum dice: «{quote}». ¿Cuál fue su propia parte?',
      'Su currículum dice: «{quote}». ¿Cómo lo hizo, y cómo supo que funcionaba?',
      'Su currículum dice: «{quote}». ¿Qué haría hoy de otra manera?',
    ],
    position: [
      'Su currículum menciona «{quote}». ¿Cuáles de sus tareas allí se acercan más a este puesto?',
      'Su currículum menciona «{quote}». ¿Qué aprendió allí que utiliza hoy?',
    ],
    skill: 'Su currículum dice: «{quote}». ¿Qué papel tuvo allí «{skill}»?',
    missing:
      'Su currículum no menciona «{skill}», que este puesto pide. ¿Dónde lo ha necesitado hasta ahora, si es el caso?',
  },

  general: {
    introduction: [
      '¿En qué ha trabajado en los últimos doce meses?',
      '¿Cómo llegó al trabajo que hace hoy?',
      '¿Cómo es para usted un día normal de trabajo?',
      '¿De qué trabajo siente más orgullo, y por qué?',
      '¿De qué era responsable en su último puesto?',
      '¿Con quién trabaja más de cerca, y en qué?',
      '¿Qué más deberíamos saber de usted?',
    ],
    technical: [
      'junior, mid: ¿Cómo procede cuando tiene que aprender algo nuevo para su trabajo?',
      'senior, lead: ¿Cuál de sus decisiones en el trabajo tuvo más efecto, y cómo llegó a ella?',
      'senior, lead: ¿Cómo decide qué es lo bastante bueno?',
      '¿Cuáles son los errores más frecuentes en su oficio, y cómo los evita?',
      'Explique con palabras sencillas algo complicado de su trabajo.',
      '¿Cómo busca la causa de un problema?',
      '¿Qué herramientas utiliza cada día, y para qué?',
      '¿Cómo mantiene al día sus conocimientos?',
      '¿Qué reglas o normas importan más en su trabajo, y por qué?',
      '¿Qué es lo que más ha cambiado en su oficio en los últimos años?',
    ],
    behavioral: [
      'lead: Háblenos de una persona a la que ayudó a crecer. ¿Qué hizo?',
      'lead: Háblenos de una decisión suya que no gustó a su equipo. ¿Cómo la llevó?',
      'senior: Háblenos de una vez en que hizo cambiar de opinión a alguien con más poder que usted.',
      'junior: Háblenos de algo que aprendió de una compañera o un compañero.',
      'Háblenos de un problema difícil que resolvió. ¿Cómo lo hizo?',
      'Háblenos de un desacuerdo en un equipo. ¿Cómo terminó?',
      'Háblenos de un error suyo. ¿Qué hizo después?',
      'Háblenos de un comentario que cambió su manera de trabajar.',
      'Háblenos de una vez en que tuvo que cambiar sus planes con rapidez.',
      'Háblenos de una decisión que tomó con muy poca información.',
      'Háblenos de un objetivo que no alcanzó. ¿Qué aprendió?',
      '¿Cuándo ayudó por última vez a otra persona a tener éxito, y cómo?',
      '¿Cuándo se hizo cargo de algo que nadie le había pedido?',
      '¿Cuándo dijo que no en el trabajo? ¿Qué pasó?',
    ],
    situational: [
      'lead: La mitad de su equipo enferma durante una semana. ¿Cómo cumple lo prometido?',
      'lead: Dos buenas personas de su equipo ya no se hablan. ¿Qué hace?',
      'senior: Se hace cargo de un trabajo que lleva mucho retraso. ¿Cuáles son sus primeros pasos?',
      'junior: No sabe cómo seguir, y nadie tiene tiempo de ayudarle. ¿Qué hace?',
      'Llegan dos tareas urgentes a la vez. ¿Cómo decide cuál va primero?',
      'Nota que no va a terminar a tiempo. ¿Qué hace, y cuándo?',
      'Le dan una tarea poco clara. ¿Cuáles son sus primeros pasos?',
      'Alguien se enfada con usted. ¿Cómo responde?',
      'Encuentra un error grave en un trabajo ya terminado. ¿Qué hace?',
      'Su responsable pide algo que usted cree equivocado. ¿Qué hace?',
      'Le preguntan algo que no sabe responder. ¿Qué dice?',
      'Alguien del equipo comete siempre el mismo error. ¿Qué hace?',
      'Alguien del equipo quiere hacer una tarea de otra manera que usted. ¿Cómo se ponen de acuerdo?',
      'En su primer día nadie tiene tiempo de enseñarle todo. ¿Qué hace?',
    ],
    motivation: [
      '¿Por qué quiere este puesto?',
      '¿Qué espera de sus primeros tres meses con nosotros?',
      '¿Cómo es para usted un buen día de trabajo?',
      '¿Qué tiene un equipo en el que le gusta trabajar?',
      '¿Qué le gustaría hacer dentro de un año mejor que hoy?',
      '¿Qué tipo de trabajo le cuesta más, y cómo consigue hacerlo?',
      '¿Cuáles de sus tareas actuales quiere conservar, y cuáles no?',
      '¿Qué espera de su responsable?',
      '¿Qué preguntas tiene para nosotros?',
    ],
  },

  doings: [
    'planifica su trabajo',
    'comprueba su propio trabajo',
    'explica algo difícil a alguien',
    'entrega un trabajo a alguien',
    'se hace cargo del trabajo de alguien',
    'resuelve un problema',
    'decide qué va primero',
    'ayuda a alguien del equipo',
    'trabaja con otros departamentos',
    'escribe algo para los demás',
    'toma una decisión en grupo',
    'calcula cuánto tiempo hace falta',
    'dice a alguien lo que piensa de su trabajo',
    'empieza una tarea nueva',
  ],

  aboutDoing: {
    introduction: [
      '¿Qué parte de su experiencia le ayuda más cuando {doing}?',
      '¿Qué es típico de cómo {doing}?',
      '¿Qué aprendió de otros que le sirve cuando {doing}?',
    ],
    technical: [
      '¿A qué presta más atención cuando {doing}?',
      '¿Qué intenta evitar cuando {doing}?',
      'Describa cómo {doing}.',
    ],
    behavioral: [
      '¿Qué hace hoy de otra manera que antes cuando {doing}?',
      '¿Qué valoran los demás de usted cuando {doing}?',
      '¿Qué le resulta difícil cuando {doing}? Dé un ejemplo.',
    ],
    situational: [
      'Suponga que le falta tiempo cuando {doing}. ¿Qué hace?',
      'Suponga que alguien critica cómo {doing}. ¿Qué hace?',
      'Una persona nueva del equipo quiere saber cómo {doing}. ¿Qué le dice?',
    ],
    motivation: [
      '¿Qué le gusta cuando {doing}?',
      '¿Qué le cuesta más esfuerzo cuando {doing}?',
      '¿Qué le gustaría cambiar de cómo {doing}?',
    ],
  },
};
