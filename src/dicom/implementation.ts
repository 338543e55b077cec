/** (0002,0012) and the Implementation Class UID of associations; made once, under the root for UUIDs (PS3.5 §B.2). */
export const implementationClassUid = '2.25.250297170781953759024186043191036053845';

/** (0002,0013), at most 16 characters. */
export const implementationVersionName = 'TRIBUTARY_1';
