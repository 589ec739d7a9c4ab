/** Labelled form controls, each with the server's error about its value. */
import { createContext, type ComponentChildren, type TextareaHTMLAttributes } from 'preact';
import { useContext } from 'preact/hooks';

/**
 * Holds the function that returns the server's error about a field of the request body. A form provides this function
 * to the controls inside it.
 */
export const Wrong = createContext<(field: string) => string | undefined>(() => undefined);

type Given = {
  label: string;
  hint?: string | undefined;
  /** The field of the request body whose error is shown here, if its name is not that of the control. */
  of?: string | undefined;
};

export function Field({ label, hint, of = '', children }: Given & { children: ComponentChildren }) {
  const error = useContext(Wrong)(of);
  return (
    <label class="field">
      <span>{label}</span>
      {children}
      {hint && <small>{hint}</small>}
      {error && (
        <strong class="error" role="alert">
          {error}
        </strong>
      )}
    </label>
  );
}

type Typed = Given &
  Pick<TextareaHTMLAttributes, 'autocomplete' | 'defaultValue' | 'maxLength' | 'placeholder' | 'required' | 'value'> & {
    name: string;
    type?: 'color' | 'datetime-local' | 'email' | 'number' | 'password' | 'text' | 'time' | 'url';
    /** The height in lines. Without it, the text is a single line. */
    rows?: number;
    min?: number;
    change?: (text: string) => unknown;
  };

export function Text({ label, hint, of, type = 'text', change, ...more }: Typed) {
  // preact's types do not accept a union of input types, so the compiler is told that the type is `text`.
  const kind = type as 'text';
  const typed = ({ currentTarget }: { currentTarget: { value: string } }) => void change?.(currentTarget.value);
  return (
    <Field label={label} hint={hint} of={of ?? more.name}>
      {more.rows ? <textarea {...more} onInput={typed} /> : <input type={kind} {...more} onInput={typed} />}
    </Field>
  );
}

/**
 * Returns a function that makes the properties of a field from its name. The label is the text of this name in `words`,
 * the hint is the text `<name>_hint`, if there is one, and the initial value is the one in `values`.
 */
export function fieldsOf<N extends string>(
  words: { readonly [Name in N]: unknown },
  values: Readonly<Record<string, unknown>>,
): (name: N) => Given & { name: string; defaultValue: string | number } {
  const texts: Readonly<Record<string, unknown>> = words;
  return (name: string) => ({
    name,
    label: texts[name] as string,
    hint: texts[`${name}_hint`] as string | undefined,
    defaultValue: (values[name] ?? '') as string | number,
  });
}

type Chosen = { names: Readonly<Record<string, string>>; chosen?: string | undefined };

/**
 * The options of a `select`: a name for each value. `defaultSelected`, which preact's types lack, selects the option
 * `chosen` again after a reset of the form.
 */
export const Options = ({ names, chosen }: Chosen) => (
  <>
    {Object.entries(names).map(([value, name]) => (
      <option key={value} value={value} selected={value === chosen} {...{ defaultSelected: value === chosen }}>
        {name}
      </option>
    ))}
  </>
);

type Selected = Given & Chosen & { name: string; change?: (value: string) => unknown };

export const Select = ({ label, hint, of, name, names, chosen, change }: Selected) => (
  <Field label={label} hint={hint} of={of ?? name}>
    <select name={name} onChange={({ currentTarget }) => void change?.(currentTarget.value)}>
      <Options names={names} chosen={chosen} />
    </select>
  </Field>
);

type Ticked = { label: string; name?: string; checked?: boolean; change?: (on: boolean) => unknown };

/** A checkbox. If it has a `name`, it is a field of its form. If it has `change`, it reports each change. */
export const Tick = ({ label, name, checked, change }: Ticked) => (
  <label>
    {change ? (
      <input type="checkbox" checked={checked} onChange={({ currentTarget }) => void change(currentTarget.checked)} />
    ) : (
      <input name={name} type="checkbox" defaultChecked={checked} />
    )}{' '}
    {label}
  </label>
);

/** The text in a field of a form, by the field's name; empty for a field that is no text. */
export function textOf(form: HTMLFormElement, name: string): string {
  const text = new FormData(form).get(name);
  return typeof text === 'string' ? text : '';
}
