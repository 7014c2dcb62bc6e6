# SPDX-License-Identifier: Apache-2.0
"""A little Slurm cluster on loopback, in a scratch folder: munge, a controller and two nodes on this machine, taken down by their pid files."""
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from command_runner import CommandTest

DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol")


def reason_not_to():
    missing = [name for name in DAEMONS if not shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")]
    if missing:
        return f"{', '.join(missing)}: not installed (scripts/build.sh --hosts installs slurm-wlm and munge)"
    return "" if os.geteuid() == 0 else "the daemons want to run as root"


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    def __init__(self, folder, more=""):
        self.folder = Path(folder)
        self.more = more  # lines for slurm.conf
        self.host = socket.gethostname().split(".")[0]
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"),
                            "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}

    def __enter__(self):
        for name in ("munge", "socket", "state", "spool", "log"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "munge").chmod(0o700)
        (self.folder / "socket").chmod(0o755)
        self.folder.chmod(0o755)
        key = self.folder / "munge/key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        ports = free_ports(4)
        nodes = "\n".join(f"NodeName=n{i} NodeHostname={self.host} NodeAddr=127.0.0.1 Port={ports[i]} CPUs=1 RealMemory=4000"
                          for i in (1, 2))
        (self.folder / "slurm.conf").write_text(f"""ClusterName=meniscus
SlurmctldHost={self.host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={self.folder}/socket/munge.socket
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool/%n
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.%n.pid
SlurmctldLogFile={self.folder}/log/slurmctld
SlurmdLogFile={self.folder}/log/slurmd.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ReturnToService=2
JobRequeue=1
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={self.folder}/log/jobs
MpiDefault=none
KillWait=20
SlurmctldTimeout=10
SlurmdTimeout=60
SchedulerParameters=sched_interval=2,bf_interval=2
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
{self.more}
{nodes}
PartitionName=all Nodes=n1,n2 Default=YES PriorityTier=1 MaxTime=INFINITE State=UP
PartitionName=urgent Nodes=n1,n2 PriorityTier=10 PreemptMode=OFF MaxTime=INFINITE State=UP
""")
        self.run("munged", "--force", f"--key-file={key}", f"--socket={self.folder}/socket/munge.socket",
                 f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munge/log", f"--seed-file={self.folder}/munge/seed")
        self.start_controller()
        for node in ("n1", "n2"):
            self.start_node(node)
        self.wait(lambda: self.run("sinfo", "-h", "-o", "%t %D").split() == ["idle", "2"], "the nodes are not up", 60)
        return self

    def __exit__(self, *_):
        subprocess.run(["scancel", "--user=root"], env=self.environment, capture_output=True)
        for name in ("slurmd.n1", "slurmd.n2", "slurmctld", "munged"):
            self.stop(name, signal.SIGTERM)

    def run(self, *words, good=(0,)):
        done = subprocess.run([str(word) for word in words], env=self.environment, capture_output=True, text=True, timeout=60)
        if done.returncode not in good:
            raise RuntimeError(f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def start_controller(self):
        self.run("slurmctld", "-f", self.folder / "slurm.conf")
        self.wait(lambda: self.run("sinfo", "-h", good=(0, 1)), "the controller does not answer")

    def start_node(self, name):
        self.run("slurmd", "-N", name, "-f", self.folder / "slurm.conf")

    def stop(self, name, number):
        """Sends a signal to a daemon by its pid file and waits for its end."""
        try:
            process = int((self.folder / f"{name}.pid").read_text())
            os.kill(process, number)
        except (OSError, ValueError):
            return
        for _ in range(200):
            if not Path(f"/proc/{process}").exists() or Path(f"/proc/{process}/stat").read_text().split(")")[1].split()[0] == "Z":
                return
            time.sleep(0.05)
        os.kill(process, signal.SIGKILL)

    def wait(self, what, why, seconds=90):
        end = time.time() + seconds
        while time.time() < end:
            found = what()
            if found:
                return found
            time.sleep(0.2)
        raise RuntimeError(f"{why}: {self.run('squeue', good=(0, 1))}")

    def queue(self):
        """(job, task, state) of every task; the job is the task's own number."""
        return [line.split() for line in self.run("squeue", "-h", "-r", "-o", "%A %K %T %j", good=(0, 1)).splitlines()]

    def show(self, job):
        """The controller's record of a job, which it keeps for minutes after the job's end."""
        return self.run("scontrol", "show", "job", job)

    def wait_until_saved(self, job):
        """The controller saves its jobs every five seconds, and one that is killed forgets what came after: a mark on the job tells."""
        mark = f"saved-{job}"

        def saved():
            try:
                return mark.encode() in (self.folder / "state/job_state").read_bytes()
            except FileNotFoundError:  # while the controller puts the new one in place of the old one
                return False

        self.run("scontrol", "update", f"JobId={job}", f"Comment={mark}")
        self.wait(saved, f"job {job} is not saved")


class SlurmTest(CommandTest):
    """Submits wedges and holds their frames against those of cooks of their own."""

    def setUp(self):
        super().setUp()
        self.whole = {}

    def status(self, folder="w"):
        return {m["name"]: m for m in json.loads(self.succeed("wedge", "status", folder, "--json").stdout)["members"]}

    def wait_for_frames(self, cluster, name, count, folder="w"):
        cluster.wait(lambda: len(list((self.folder / folder / name).glob("*.bgeo.sc"))) >= count, f"{name} does not come on")

    def wait_for_end(self, cluster, seconds=120):
        cluster.wait(lambda: not cluster.queue(), "the queue does not empty", seconds)

    def check(self, name, folder="w"):
        speed = name.split("=")[1]
        if speed not in self.whole:
            self.succeed("cook", "scene.json", "-o", f"alone{speed}", "-q", "--set", f"spray.speed={speed}")
            self.whole[speed] = self.digests(f"alone{speed}")
        self.assertEqual(self.digests(f"{folder}/{name}"), self.whole[speed])

    def submit(self, cluster, *words):
        done = self.run_command("wedge", "scene.json", "-o", "w", "--threads", "1", "--slurm", *words, env=cluster.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done
