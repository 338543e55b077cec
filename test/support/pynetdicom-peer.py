"""What test/integrity/pynetdicom.test.ts asks: port of the service, file, study; the answers as JSON on standard output."""

import json
import sys

from pydicom import dcmread
from pydicom.dataset import Dataset
from pydicom.uid import ExplicitVRBigEndian, ImplicitVRLittleEndian
from pynetdicom import AE, build_role, evt

CT = "1.2.840.10008.5.1.4.1.1.2"
FIND = "1.2.840.10008.5.1.4.1.2.2.1"
GET = "1.2.840.10008.5.1.4.1.2.2.3"
VERIFICATION = "1.2.840.10008.1.1"
answer = {}


def associate(contexts, **more):
    ae = AE(ae_title="PYNETDICOM")
    for context, syntaxes in contexts:
        ae.add_requested_context(context, syntaxes)
    association = ae.associate("127.0.0.1", int(sys.argv[1]), ae_title="WEST", **more)
    if not association.is_established:
        raise SystemExit("no association")
    return association


association = associate([(VERIFICATION, [ImplicitVRLittleEndian]), (CT, [ExplicitVRBigEndian])])
answer["echo"] = association.send_c_echo().Status
answer["store"] = association.send_c_store(dcmread(sys.argv[2])).Status
association.release()

question = Dataset()
question.QueryRetrieveLevel = "STUDY"
question.SpecificCharacterSet = ["", "ISO 2022 IR 87"]
question.PatientName = "=山田*"
question.StudyInstanceUID = ""
association = associate([(FIND, [ImplicitVRLittleEndian])])
answer["find"] = [
    [status.Status, None if found is None else str(found.PatientName)] for status, found in association.send_c_find(question, FIND)
]
association.release()

received = []


def take(event):
    dataset = event.dataset
    received.append([event.context.transfer_syntax, str(dataset.PatientName), dataset.Rows, dataset.PixelData.hex()])
    return 0x0000


wanted = Dataset()
wanted.QueryRetrieveLevel = "STUDY"
wanted.StudyInstanceUID = sys.argv[3]
association = associate(
    [(GET, [ImplicitVRLittleEndian]), (CT, [ImplicitVRLittleEndian])],
    ext_neg=[build_role(CT, scp_role=True)],
    evt_handlers=[(evt.EVT_C_STORE, take)],
)
answer["get"] = [status.Status for status, _ in association.send_c_get(wanted, GET)][-1]
association.release()
answer["received"] = received
print(json.dumps(answer))
