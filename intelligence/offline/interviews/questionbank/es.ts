/** The question templates in Spanish. bank.ts describes the rows. */
import { bankFrom } from './bank.ts';

export const es = bankFrom(`
opening named | Preséntese, por favor. ¿Cuál de sus experiencias es la más importante para el puesto de {role}?
opening plain | Preséntese, por favor. ¿Cuál de sus experiencias es la más importante para este puesto?
aboutSkill introduction | Este puesto pide «{skill}». ¿Dónde lo ha necesitado hasta ahora?
aboutSkill technical | junior: Este puesto pide «{skill}». ¿Qué preparación tiene para ello?
aboutSkill technical | mid: Para nosotros es importante «{skill}». ¿Qué destacaría de su trabajo en ese sentido?
aboutSkill technical | senior: Según su experiencia, ¿qué se suele subestimar en el tema «{skill}»?
aboutSkill technical | lead: Suponga que contrata a alguien para este puesto. ¿Cómo comprobaría «{skill}»?
aboutSkill technical | Este puesto incluye «{skill}». ¿Qué aporta usted, y qué tendría que aprender todavía?
aboutSkill behavioral | junior, mid: Este puesto pide «{skill}». Háblenos de una situación en el trabajo en la que fue importante.
aboutSkill behavioral | senior, lead: Este puesto pide «{skill}». Háblenos de una situación en el trabajo en la que mucho dependía de ello.
aboutCriterion | También nos fijamos en «{criterion}». ¿Qué ejemplo de su trabajo nos daría?
aboutCriterion | ¿Qué diría de usted su último equipo sobre el tema «{criterion}»?
aboutQuote achievement | Su currículum dice: «{quote}». ¿Cuál fue su propia parte?
aboutQuote achievement | Su currículum dice: «{quote}». ¿Cómo lo hizo, y cómo supo que funcionaba?
aboutQuote achievement | Su currículum dice: «{quote}». ¿Qué haría hoy de otra manera?
aboutQuote position | Su currículum menciona «{quote}». ¿Cuáles de sus tareas allí se acercan más a este puesto?
aboutQuote position | Su currículum menciona «{quote}». ¿Qué aprendió allí que utiliza hoy?
aboutQuote skill | Su currículum dice: «{quote}». ¿Qué papel tuvo allí «{skill}»?
aboutQuote missing | Su currículum no menciona «{skill}», que este puesto pide. ¿Dónde lo ha necesitado hasta ahora, si es el caso?
general introduction | ¿En qué ha trabajado en los últimos doce meses?
general introduction | ¿Cómo llegó al trabajo que hace hoy?
general introduction | ¿Cómo es para usted un día normal de trabajo?
general introduction | ¿De qué trabajo siente más orgullo, y por qué?
general introduction | ¿De qué era responsable en su último puesto?
general introduction | ¿Con quién trabaja más de cerca, y en qué?
general introduction | ¿Qué más deberíamos saber de usted?
general technical | junior, mid: ¿Cómo procede cuando tiene que aprender algo nuevo para su trabajo?
general technical | senior, lead: ¿Cuál de sus decisiones en el trabajo tuvo más efecto, y cómo llegó a ella?
general technical | senior, lead: ¿Cómo decide qué es lo bastante bueno?
general technical | ¿Cuáles son los errores más frecuentes en su oficio, y cómo los evita?
general technical | Explique con palabras sencillas algo complicado de su trabajo.
general technical | ¿Cómo busca la causa de un problema?
general technical | ¿Qué herramientas utiliza cada día, y para qué?
general technical | ¿Cómo mantiene al día sus conocimientos?
general technical | ¿Qué reglas o normas importan más en su trabajo, y por qué?
general technical | ¿Qué es lo que más ha cambiado en su oficio en los últimos años?
general behavioral | lead: Háblenos de una persona a la que ayudó a crecer. ¿Qué hizo?
general behavioral | lead: Háblenos de una decisión suya que no gustó a su equipo. ¿Cómo la llevó?
general behavioral | senior: Háblenos de una vez en que hizo cambiar de opinión a alguien con más poder que usted.
general behavioral | junior: Háblenos de algo que aprendió de una compañera o un compañero.
general behavioral | Háblenos de un problema difícil que resolvió. ¿Cómo lo hizo?
general behavioral | Háblenos de un desacuerdo en un equipo. ¿Cómo terminó?
general behavioral | Háblenos de un error suyo. ¿Qué hizo después?
general behavioral | Háblenos de un comentario que cambió su manera de trabajar.
general behavioral | Háblenos de una vez en que tuvo que cambiar sus planes con rapidez.
general behavioral | Háblenos de una decisión que tomó con muy poca información.
general behavioral | Háblenos de un objetivo que no alcanzó. ¿Qué aprendió?
general behavioral | ¿Cuándo ayudó por última vez a otra persona a tener éxito, y cómo?
general behavioral | ¿Cuándo se hizo cargo de algo que nadie le había pedido?
general behavioral | ¿Cuándo dijo que no en el trabajo? ¿Qué pasó?
general situational | lead: La mitad de su equipo enferma durante una semana. ¿Cómo cumple lo prometido?
general situational | lead: Dos buenas personas de su equipo ya no se hablan. ¿Qué hace?
general situational | senior: Se hace cargo de un trabajo que lleva mucho retraso. ¿Cuáles son sus primeros pasos?
general situational | junior: No sabe cómo seguir, y nadie tiene tiempo de ayudarle. ¿Qué hace?
general situational | Llegan dos tareas urgentes a la vez. ¿Cómo decide cuál va primero?
general situational | Nota que no va a terminar a tiempo. ¿Qué hace, y cuándo?
general situational | Le dan una tarea poco clara. ¿Cuáles son sus primeros pasos?
general situational | Alguien se enfada con usted. ¿Cómo responde?
general situational | Encuentra un error grave en un trabajo ya terminado. ¿Qué hace?
general situational | Su responsable pide algo que usted cree equivocado. ¿Qué hace?
general situational | Le preguntan algo que no sabe responder. ¿Qué dice?
general situational | Alguien del equipo comete siempre el mismo error. ¿Qué hace?
general situational | Alguien del equipo quiere hacer una tarea de otra manera que usted. ¿Cómo se ponen de acuerdo?
general situational | En su primer día nadie tiene tiempo de enseñarle todo. ¿Qué hace?
general motivation | ¿Por qué quiere este puesto?
general motivation | ¿Qué espera de sus primeros tres meses con nosotros?
general motivation | ¿Cómo es para usted un buen día de trabajo?
general motivation | ¿Qué tiene un equipo en el que le gusta trabajar?
general motivation | ¿Qué le gustaría hacer dentro de un año mejor que hoy?
general motivation | ¿Qué tipo de trabajo le cuesta más, y cómo consigue hacerlo?
general motivation | ¿Cuáles de sus tareas actuales quiere conservar, y cuáles no?
general motivation | ¿Qué espera de su responsable?
general motivation | ¿Qué preguntas tiene para nosotros?
doings | planifica su trabajo
doings | comprueba su propio trabajo
doings | explica algo difícil a alguien
doings | entrega un trabajo a alguien
doings | se hace cargo del trabajo de alguien
doings | resuelve un problema
doings | decide qué va primero
doings | ayuda a alguien del equipo
doings | trabaja con otros departamentos
doings | escribe algo para los demás
doings | toma una decisión en grupo
doings | calcula cuánto tiempo hace falta
doings | dice a alguien lo que piensa de su trabajo
doings | empieza una tarea nueva
aboutDoing introduction | ¿Qué parte de su experiencia le ayuda más cuando {doing}?
aboutDoing introduction | ¿Qué es típico de cómo {doing}?
aboutDoing introduction | ¿Qué aprendió de otros que le sirve cuando {doing}?
aboutDoing technical | ¿A qué presta más atención cuando {doing}?
aboutDoing technical | ¿Qué intenta evitar cuando {doing}?
aboutDoing technical | Describa cómo {doing}.
aboutDoing behavioral | ¿Qué hace hoy de otra manera que antes cuando {doing}?
aboutDoing behavioral | ¿Qué valoran los demás de usted cuando {doing}?
aboutDoing behavioral | ¿Qué le resulta difícil cuando {doing}? Dé un ejemplo.
aboutDoing situational | Suponga que le falta tiempo cuando {doing}. ¿Qué hace?
aboutDoing situational | Suponga que alguien critica cómo {doing}. ¿Qué hace?
aboutDoing situational | Una persona nueva del equipo quiere saber cómo {doing}. ¿Qué le dice?
aboutDoing motivation | ¿Qué le gusta cuando {doing}?
aboutDoing motivation | ¿Qué le cuesta más esfuerzo cuando {doing}?
aboutDoing motivation | ¿Qué le gustaría cambiar de cómo {doing}?
`);
