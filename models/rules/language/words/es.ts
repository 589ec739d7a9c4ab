import { listed, type Words } from './lists.ts';

export const es: Words = {
  functionWords:
    listed(`al como con cual cuando cuanto de del donde el ella en es esta este hay la las lo los me mi mis no para pero
    por que quien se si sin sobre son su sus tu un una y yo`),
  telling:
    listed(`abierto abrir agente ahora alguien aplicacion asesor asiento atencion ayer ayuda billete bloqueada bloqueado
    buenas buenos cambiar cambio cancelado cancelar cerrar cierre cobrado comision compra comprar contrasena cosa
    cuales cuanta cuantos cuenta cuesta deme dias dinero dos ellos encontrar encuentro entrada entrar enviar envio
    estan estoy factura favor fue funciona gracias gratis ha hablar hacer han he hola horario horarios hoy humano
    iniciar llega llegado manana mensual mes mia mis movil mucho muy nadie necesito ninguna ninguno nuestro nunca
    olvidado olvide operador otra pagar pago paquete pedido perdi perdido persona personas podria precio puede
    pueden puedo puerta queja quiero quisiera rechazada rechazado recibido reembolso reserva semana sesion siempre
    sigue soy tambien tarjeta telefono tengo tiene tienen tipo todavia usted ustedes veces venden vuelo`),
  asking: listed(`como cuando donde cuanto cuanta cuantos cuantas cual cuales que quien puedo`),
  joining: listed(`y o pero`),
  leaning: listed(`eso esto`),
};
