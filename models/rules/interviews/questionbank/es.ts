/** Questions in Spanish. Pure data; see bank.ts. */
import { all, of, type Bank } from './bank.ts';

export const es: Bank = {
  opening: 'Preséntese, por favor. ¿Cuál de sus experiencias es la más importante para el puesto {role}?',
  aboutSkill: {
    introduction: all('¿Dónde ha utilizado {skill} hasta ahora?'),
    technical: [
      ...of(
        ['junior'],
        '¿Qué ha hecho ya con {skill}, y cuál fue su propia parte?',
        '¿Qué le resultó más difícil de {skill}, y cómo lo aprendió?',
        'Algo con {skill} no funciona. ¿Cómo averigua por qué?',
      ),
      ...of(
        ['mid'],
        'Describa un proyecto en el que utilizó {skill}. ¿Qué hizo usted?',
        '¿Cuál fue el problema más difícil que resolvió con {skill}, y cómo lo resolvió?',
        '¿Cómo se asegura de que su trabajo con {skill} es correcto?',
      ),
      ...of(
        ['senior'],
        '¿Cuáles son los límites de {skill}, y qué hace cuando llega a ellos?',
        '¿Qué decisión sobre {skill} tomaría hoy de otra manera, y por qué?',
        '¿Cómo juzga si {skill} es lo adecuado para una tarea?',
      ),
      ...of(
        ['lead'],
        '¿Cómo juzga la calidad del trabajo de otros con {skill}?',
        '¿Cómo decide si su equipo utiliza {skill}, y quién participa en esa decisión?',
        '¿Qué reglas sobre {skill} daría a un equipo, y cómo vería que se cumplen?',
      ),
      ...all('Explique {skill} a alguien que nunca lo ha utilizado.'),
    ],
    behavioral: [
      ...of(['junior', 'mid'], 'Cuéntenos un error con {skill}. ¿Qué cambió después?'),
      ...of(['senior', 'lead'], '¿Cuándo convenció a otros de utilizar {skill} de otra manera? ¿Cómo?'),
    ],
    situational: [
      ...of(['junior', 'mid'], 'Le dan una tarea con {skill} que nunca ha hecho. ¿Cómo empieza?'),
      ...of(['senior', 'lead'], 'Alguien del equipo empieza con {skill}. ¿Qué le enseñaría primero, y por qué?'),
    ],
    motivation: all('¿Qué le gusta de trabajar con {skill}, y qué no?'),
  },
  aboutCriterion: [
    ...all(
      'Dé un ejemplo de su trabajo sobre el tema «{criterion}».',
      '¿Qué situación en el trabajo le exigió más en el tema «{criterion}»? ¿Qué hizo?',
      '¿Qué diría de usted su último equipo sobre el tema «{criterion}», y por qué?',
      '¿En qué quiere mejorar en el tema «{criterion}», y cómo?',
    ),
    ...of(['senior', 'lead'], '¿Cómo ayuda a otros a mejorar en el tema «{criterion}»?'),
  ],
  aboutQuote: {
    achievement: [
      'Su currículum dice: «{quote}». ¿Cuál fue su propia parte?',
      'Su currículum dice: «{quote}». ¿Cómo lo hizo, y cómo supo que funcionaba?',
      'Su currículum dice: «{quote}». ¿Qué haría hoy de otra manera?',
    ],
    position: [
      'Su currículum menciona «{quote}». ¿Cuáles de sus tareas allí se acercan más al puesto {role}?',
      'Su currículum menciona «{quote}». ¿Qué aprendió allí que utiliza hoy?',
    ],
    skill: 'Su currículum dice: «{quote}». ¿Cómo utilizó {skill} allí?',
    missing: 'Su currículum no menciona {skill}, que este puesto necesita. ¿Cómo empezaría?',
  },
  general: {
    introduction: all(
      '¿En qué ha trabajado en los últimos doce meses?',
      '¿Cuál de sus tareas hasta ahora le ha preparado mejor para el puesto {role}?',
      '¿Cómo llegó al trabajo que hace hoy?',
      '¿De qué trabajo siente más orgullo, y por qué?',
      '¿Cómo es para usted un día normal de trabajo?',
    ),
    technical: [
      ...of(
        ['junior', 'mid'],
        '¿Cómo aprende algo que necesita para su trabajo y todavía no conoce?',
        '¿Cómo comprueba la calidad de su trabajo antes de que otros lo vean?',
        '¿Qué herramientas utiliza cada día, y por qué esas?',
      ),
      ...of(
        ['senior', 'lead'],
        '¿Cuál de sus decisiones técnicas tuvo más efecto, y cómo llegó a ella?',
        '¿Cómo mantiene sencillo un sistema mientras crece?',
        '¿Cómo decide qué es lo bastante bueno?',
      ),
      ...all(
        'Explique con palabras sencillas algo complicado de su trabajo.',
        '¿Cómo encuentra la causa de un problema que solo aparece a veces?',
        '¿Qué hace en su trabajo para proteger los datos de otros?',
        '¿Cómo sabe que una tarea está terminada?',
      ),
    ],
    behavioral: [
      ...of(
        ['lead'],
        'Háblenos de una persona a la que ayudó a crecer. ¿Qué hizo?',
        'Describa una decisión suya que no gustó a su equipo. ¿Cómo la llevó?',
      ),
      ...of(['senior'], '¿Cuándo hizo cambiar de opinión a alguien con más poder que usted? ¿Cómo?'),
      ...of(['junior'], 'Háblenos de algo que aprendió de una compañera o un compañero.'),
      ...all(
        '¿De qué resultado de su trabajo siente orgullo, y cuál fue su parte?',
        'Háblenos de un desacuerdo en un equipo. ¿Cómo terminó?',
        'Describa un comentario que cambió su manera de trabajar.',
        'Háblenos de una decisión que tomó con muy poca información.',
        '¿Cuándo ayudó por última vez a otra persona a tener éxito? ¿Cómo?',
        'Describa un objetivo que no alcanzó. ¿Qué aprendió?',
        'Háblenos de una vez en que tuvo que cambiar sus planes con rapidez.',
        '¿Cuándo se hizo cargo de algo que nadie le había pedido?',
        '¿Cuándo dijo que no en el trabajo? ¿Qué pasó?',
      ),
    ],
    situational: [
      ...of(
        ['lead'],
        'La mitad de su equipo enferma durante una semana. ¿Cómo cumple lo prometido?',
        'Dos buenas personas de su equipo ya no se hablan. ¿Qué hace?',
      ),
      ...of(['senior'], 'Se hace cargo de un proyecto con tres meses de retraso. ¿Cuáles son sus primeros pasos?'),
      ...of(['junior'], 'No sabe cómo seguir, y todos los que podrían ayudar están ocupados. ¿Qué hace?'),
      ...all(
        'Llegan dos tareas urgentes a la vez. ¿Cómo decide cuál va primero?',
        'Nota que no se podrá cumplir una fecha. ¿Qué hace, y cuándo?',
        'Le dan una tarea poco clara. ¿Cuáles son sus primeros pasos?',
        'Un cliente o una compañera se enfada con usted. ¿Cómo responde?',
        'Encuentra un error grave en un trabajo ya entregado. ¿Qué hace?',
        'Su responsable pide algo que usted cree equivocado. ¿Qué hace?',
        'Se hace cargo del trabajo de alguien que se ha ido. ¿Cómo empieza?',
        'Le preguntan en público algo que no sabe responder. ¿Qué dice?',
      ),
    ],
    motivation: all(
      '¿Por qué quiere el puesto {role}?',
      '¿Qué espera de sus primeros tres meses en el puesto {role}?',
      '¿Qué tipo de trabajo le cuesta más, y cómo consigue hacerlo?',
      '¿Qué tiene un equipo en el que le gusta trabajar?',
      '¿En qué quiere ser mejor dentro de un año que hoy?',
      '¿Cuáles de sus tareas anteriores quiere conservar, y cuáles no?',
      '¿Qué pregunta sobre el puesto {role} tiene para nosotros?',
    ),
  },
  aspects: [
    'planificar un trabajo',
    'probar el propio trabajo',
    'documentar para otros',
    'proteger datos',
    'estimar el esfuerzo',
    'encontrar la causa de un fallo',
    'revisar el trabajo de otros',
    'entregar un trabajo a otros',
    'trabajar con lo que otros dejaron',
    'medir resultados',
    'automatizar el trabajo rutinario',
    'mantener la calidad con poco tiempo',
    'aprender una herramienta nueva',
    'trabajar con otros departamentos',
    'decidir en grupo',
    'explicar el propio trabajo a otros',
  ],
  aboutAspect: {
    introduction: [
      '¿Qué experiencia tiene con el tema «{aspect}»?',
      '¿Dónde aprendió esto: «{aspect}»?',
      '¿Qué parte de su trabajo ha sido «{aspect}» hasta ahora?',
    ],
    technical: [
      'En el puesto {role}, ¿cómo trabaja el tema «{aspect}»?',
      '¿Qué herramientas o métodos utiliza en el tema «{aspect}», y por qué?',
      '¿Qué consejo sobre el tema «{aspect}» daría a una persona nueva en el equipo?',
    ],
    behavioral: [
      'Háblenos de una vez en que fue difícil esto: «{aspect}». ¿Qué hizo?',
      'En el tema «{aspect}», ¿qué ha cambiado en su manera de trabajar desde que empezó?',
      '¿Cuándo aprovechó alguien su manera de trabajar el tema «{aspect}»?',
    ],
    situational: [
      'Suponga que «{aspect}» sale mal en su primer mes aquí. ¿Qué hace?',
      'Su equipo cree que «{aspect}» lleva demasiado tiempo. ¿Qué propone?',
      'Tiene un día para «{aspect}» y necesita tres. ¿Qué hace?',
    ],
    motivation: [
      '¿Qué le gusta del tema «{aspect}», y qué no?',
      '¿Qué importancia tiene para usted «{aspect}» en su próximo puesto?',
      '¿Qué le gustaría aprender sobre el tema «{aspect}»?',
    ],
  },
  usualCriteria: ['Comunicación', 'Resolución de problemas', 'Conocimiento del puesto'],
};
