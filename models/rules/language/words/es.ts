/** Words of Spanish. */
import { listed, type Words } from './lists.ts';

export const es: Words = {
  functionWords:
    listed(`al como con cual cuando cuanto de del donde el ella en es esta este hay la las lo los me mi mis no para pero
    por que quien se si sin sobre son su sus tu un una y yo`),
  telling:
    listed(`abierto abrir agente ahora alguien asesor atencion hablar humano operador podria persona aplicacion ayer
    ayuda bloqueada bloqueado buenas buenos cambiar cambio cancelar cancelado cerrar cobrado comision compra
    comprar contrasena cuales cuanta cuantos cuenta cuesta dias dinero dos ellos encontrar encuentro entrar
    envio enviar estan estoy factura fue funciona gracias gratis ha hacer han he hola horario horarios hoy
    iniciar llega llegado manana mensual mes mia mis movil mucho muy nadie necesito ninguna ninguno nunca
    nuestro olvidado olvide pagar pago paquete pedido perdi perdido precio puede pueden puedo quiero quisiera
    recibido rechazada rechazado reembolso sesion semana siempre sigue soy tambien tarjeta telefono tengo tiene
    tienen todavia tipo usted ustedes veces venden`),
  asking: listed(`como cuando donde cuanto cuanta cuantos cuantas cual cuales que quien puedo`),
  joining: listed(`y o pero`),
  leaning: listed(`eso esto`),
};
