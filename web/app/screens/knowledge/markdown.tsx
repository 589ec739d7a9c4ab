/** Renders Markdown as preact elements. HTML and unknown tokens are shown as text. */
import { lexer, type Token, type Tokens } from 'marked';
import type { ComponentChildren } from 'preact';

/** Whether a link may lead to this address. Other schemes, such as `javascript:`, could run code. */
const isSafe = (href: string): boolean => /^(?:https?:|mailto:)/i.test(href);

const inside = (tokens: readonly Token[] | undefined): ComponentChildren => tokens?.map(shown);

function shown(token: Token): ComponentChildren {
  switch (token.type) {
    case 'heading': {
      // A first-level heading becomes `h4`, because the page's own headings are above it.
      const Heading = `h${Math.min(6, (token as Tokens.Heading).depth + 3)}` as 'h4';
      return <Heading>{inside(token.tokens)}</Heading>;
    }
    case 'paragraph':
      return <p>{inside(token.tokens)}</p>;
    case 'list': {
      const { ordered, items } = token as Tokens.List;
      const List = ordered ? 'ol' : 'ul';
      return (
        <List>
          {items.map((item) => (
            <li>{inside(item.tokens)}</li>
          ))}
        </List>
      );
    }
    case 'blockquote':
      return <blockquote>{inside(token.tokens)}</blockquote>;
    case 'code':
      return <pre>{(token as Tokens.Code).text}</pre>;
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>;
    case 'strong':
      return <strong>{inside(token.tokens)}</strong>;
    case 'em':
      return <em>{inside(token.tokens)}</em>;
    case 'del':
      return <s>{inside(token.tokens)}</s>;
    case 'br':
      return <br />;
    case 'hr':
      return <hr />;
    case 'space':
      return null;
    case 'link': {
      const { href } = token as Tokens.Link;
      if (!isSafe(href)) return token.raw;
      return (
        <a href={href} target="_blank" rel="noopener noreferrer">
          {inside(token.tokens)}
        </a>
      );
    }
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return (
        <table>
          <thead>
            <tr>
              {header.map((cell) => (
                <th scope="col">{inside(cell.tokens)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr>
                {row.map((cell) => (
                  <td>{inside(cell.tokens)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      );
    }
    case 'text': {
      const { text, tokens } = token as Tokens.Text;
      return tokens ? inside(tokens) : text;
    }
    case 'escape':
      return (token as Tokens.Escape).text;
    default:
      return token.raw;
  }
}

export default function Markdown({ text }: { text: string }) {
  return <>{inside(lexer(text))}</>;
}
