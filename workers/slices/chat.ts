import { launchable, type Slice } from './slice.ts';
import { createConversationActivities } from '../../activities/chat/conversation.ts';
import { createErasureActivities } from '../../activities/chat/erasure.ts';
import { ConversationModel } from '../../models/chat/conversation.ts';
import { ErasureModel } from '../../models/chat/erasure.ts';
import { MessageModel } from '../../models/chat/message.ts';

export const chat = {
  // The sweeper starts the workflows of messages first, because a customer waits for the answer.
  launchable: [launchable(MessageModel), launchable(ConversationModel), launchable(ErasureModel)],
  fleets: {
    conversations: {
      activities: (deps) => ({ ...createConversationActivities(deps), ...createErasureActivities(deps) }),
      // An activity mostly waits for MongoDB or a model. With extractive answers, 40 activities keep two cores busy.
      maxActivities: 40,
      maxWorkflowTasks: 20,
    },
  },
} as const satisfies Slice;
