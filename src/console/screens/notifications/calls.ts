import type { z } from 'zod';
import type {
	addNotificationInput,
	deliveryRecord,
	listedNotification,
	newNotification,
	notificationRecord,
	setNotificationInput,
	testOutput,
} from '#administration/notifications.ts';
import { call } from '../../api.ts';

export type ListedNotification = z.output<typeof listedNotification>;
export type NewNotification = z.output<typeof newNotification>;
export type NotificationRecord = z.output<typeof notificationRecord>;
export type DeliveryRecord = z.output<typeof deliveryRecord>;
export type AddNotification = z.input<typeof addNotificationInput>;

export const listNotifications = call<{ site?: string | undefined }, ListedNotification[]>('GET', '/notifications');
export const showNotification = call<{ id: string }, NotificationRecord>('GET', '/notifications/{id}');
export const listDeliveries = call<{ id: string }, DeliveryRecord[]>('GET', '/notifications/{id}/deliveries');
export const addNotification = call<AddNotification, NewNotification>('POST', '/notifications');
export const setNotification = call<z.input<typeof setNotificationInput>, NotificationRecord>('PATCH', '/notifications/{id}');
export const testNotification = call<{ id: string }, z.output<typeof testOutput>>('POST', '/notifications/{id}/test');
export const removeNotification = call<{ id: string }, NotificationRecord>('DELETE', '/notifications/{id}');
