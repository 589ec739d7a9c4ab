import { listed, type Words } from './lists.ts';

export const en: Words = {
  functionWords:
    listed(`a about after again all am an and any are as at be been before being but by can could did do does doing for
    from had has have having he her here hers him his how i if in into is it its itself just long lot lots many
    me more most much my no nor not now of off often on once only or other our ours out over own per please same
    she should so some such than that the their theirs them then there these they this those through to too
    under until up very was we were what when where which while who whom whose why will with without would you
    your yours s t d ll m re ve`),
  telling:
    listed(`account address anyone back bill blocked bought broken cancel cancelled cannot cant card change charged
    close couldn customer days declined delivered delivery didn doesn don dont ever fee fees find forgot free
    get gone got haven hello help hi hours invoice isn know last let like locked login lost money month monthly
    need never nobody not open opening order password pay payment phone received refund representative reset
    sell send sent shipping someone still stolen thanks today tomorrow twice want week where won work working
    wrong year yesterday`),
  asking:
    listed(`how what when where who whose whom which why can could do does did is are was were will would should may
    must have has`),
  joining: listed(`and or but then so also please`),
  leaning: listed(`it its this that these those they them one ones`),
};
