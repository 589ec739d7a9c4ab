import type { Task } from '../../models/tasks/task.ts';
import { findAssignee } from '../../models/tasks/unassigning.ts';
import { readAddress } from '../../models/rules/access/mailbox.ts';
import type { TaskTold } from '../../models/rules/tasks/tasktext.ts';
import { defined } from '../../models/rules/base/defined.ts';

/** The data of a task for other services, and the assignee's mail address. */
export async function toldOf(task: Task): Promise<{ told: TaskTold; email: string | undefined }> {
  const user = await findAssignee(task);
  const { title, description, due_date, due_day, priority, source_quote, assignee_email } = task;
  const told = {
    task_id: task._id,
    title,
    priority,
    ...defined({ description, due_date, due_day, source_quote }),
    ...(user ? { assignee: user.name } : {}),
  };
  return { told, email: readAddress(assignee_email ?? user?.email) };
}
