"""The Chinese of the sample. Every name, date and number is invented."""

# ruff: noqa: RUF001
# Full-width punctuation is what Chinese is written with.

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalframe.rag.sample.language import Attribute, Language, Phrases, Subject, Value

if TYPE_CHECKING:
    from evalframe.rag.sample.choices import Choices

_NAMES = tuple(start + end for start in "岚汐槿珞霁湄砚翎栎澄霭菁" for end in "溪原渡岭湾坪浦崖")
_SURNAMES = ("闻人", "澹台", "公冶", "淳于", "钟离", "濮阳")
_GIVEN = tuple(start + end for start in "砚霁槿衡绮朔" for end in "秋川言舟禾临")
_PLACES = ("镇", "港", "集")
_FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")


def _person(choices: Choices) -> Value:
    surname, given = choices.one(_SURNAMES), choices.one(_GIVEN)
    return Value((surname + given,), rewritten=(f"{surname}\u3000{given}", f"{surname}·{given}"))


def _date(choices: Choices) -> Value:
    year, month, day = choices.whole(1921, 2019), choices.whole(1, 12), choices.whole(1, 28)
    date = f"{year}年{month}月{day}日"
    return Value(
        (date, f"{year}/{month}/{day}"),
        rewritten=(date.translate(_FULL_WIDTH),),
    )


def _number(low: int, high: int, unit: str, choices: Choices) -> Value:
    number = choices.whole(low, high)
    plain, written = f"{number}{unit}", f"{number:,}{unit}"
    if plain == written:
        return Value((plain,), rewritten=(plain.translate(_FULL_WIDTH),), glued=f"1{plain}")
    if choices.chance(0.5):
        return Value((plain, written), glued=f"1{plain}")
    return Value((plain,), rewritten=(written,), glued=f"1{plain}")


def _money(choices: Choices) -> Value:
    """An amount; some are written with a space, which a check that removes spaces cannot find."""
    amount = f"{choices.whole(1, 9)}.{choices.whole(1, 9)}"
    if choices.chance(0.5):
        return Value((f"{amount} 亿元",), glued=f"1{amount} 亿元")
    written = f"{amount}亿元"
    return Value((written,), rewritten=(written.translate(_FULL_WIDTH),), glued=f"1{written}")


def _town(choices: Choices) -> Value:
    name, kind = choices.one(_GIVEN), choices.one(_PLACES)
    return Value((name + kind,), rewritten=(f"“{name}”{kind}",))


_few, _many = partial(_number, 21, 98), partial(_number, 1_200, 96_000)

_LANDMARK = Subject(
    names=("{name}大桥", "{name}天文台", "{name}歌剧院"),
    attributes=(
        Attribute(
            _person,
            "{subject}由谁设计",
            (
                "{subject}由{value}设计。",
                "{value}是{subject}的建筑师。",
                "{subject}的图纸出自{value}之手。",
            ),
        ),
        Attribute(
            _date,
            "{subject}何时开放",
            (
                "{subject}于{value}开放。",
                "{subject}的开放仪式在{value}举行。",
                "自{value}起，{subject}接待游客。",
            ),
        ),
        Attribute(
            _money,
            "{subject}造价多少",
            (
                "{subject}造价{value}。",
                "修建{subject}花费了{value}。",
                "{subject}的总投资为{value}。",
            ),
        ),
        Attribute(
            partial(_few, "级"),
            "{subject}有多少级台阶",
            (
                "{subject}的台阶共{value}。",
                "登上{subject}要走{value}台阶。",
                "{subject}内有{value}台阶。",
            ),
        ),
    ),
    asides=(
        "{subject}夜间亮灯。",
        "画家们喜欢描绘{subject}。",
        "学校春天会组织参观{subject}。",
        "门口出售介绍{subject}的小册子。",
    ),
)
_COMPANY = Subject(
    names=("{name}光学公司", "{name}货运公司", "{name}机器人公司"),
    attributes=(
        Attribute(
            _person,
            "{subject}由谁领导",
            (
                "{subject}由{value}领导。",
                "{value}是{subject}的总经理。",
                "{subject}董事会任命了{value}。",
            ),
        ),
        Attribute(
            _town,
            "{subject}总部在哪里",
            (
                "{subject}总部在{value}。",
                "{subject}的办公楼位于{value}。",
                "{value}是{subject}的总部所在地。",
            ),
        ),
        Attribute(
            partial(_many, "人"),
            "{subject}有多少员工",
            (
                "{subject}有员工{value}。",
                "{subject}雇用了{value}。",
                "{subject}的员工总数为{value}。",
            ),
        ),
        Attribute(
            _date,
            "{subject}何时成立",
            (
                "{subject}成立于{value}。",
                "{subject}的章程于{value}签署。",
                "自{value}起，{subject}开始营业。",
            ),
        ),
    ),
    asides=(
        "{subject}招收学徒。",
        "分析师看好{subject}。",
        "{subject}赞助了一个赛艇俱乐部。",
        "客户称赞{subject}有耐心。",
    ),
)
_TOWN = Subject(
    names=("{name}市", "新{name}市", "{name}县"),
    attributes=(
        Attribute(
            _person,
            "{subject}的长官是谁",
            (
                "{subject}的长官是{value}。",
                "{value}当选为{subject}的长官。",
                "{subject}由{value}治理。",
            ),
        ),
        Attribute(
            partial(_many, "人"),
            "{subject}有多少居民",
            (
                "{subject}有居民{value}。",
                "{subject}住着{value}。",
                "普查得出{subject}的人口为{value}。",
            ),
        ),
        Attribute(
            partial(_few, "席"),
            "{subject}的议会有多少席位",
            (
                "{subject}的议会有{value}。",
                "{subject}议会共设{value}。",
                "{value}组成了{subject}的议会。",
            ),
        ),
    ),
    asides=(
        "{subject}以梨闻名。",
        "慢车停靠{subject}。",
        "{subject}的集市设在码头上。",
        "{subject}有一座小小的钟表博物馆。",
    ),
)
_PRIZE = Subject(
    names=("{name}玻璃艺术奖", "{name}奖章", "{name}诗歌奖"),
    attributes=(
        Attribute(
            _person,
            "{subject}由谁获得",
            (
                "{subject}由{value}获得。",
                "{value}赢得了{subject}。",
                "{subject}的评委选择了{value}。",
            ),
        ),
        Attribute(
            _date,
            "{subject}何时颁发",
            (
                "{subject}于{value}颁发。",
                "{subject}的典礼在{value}举行。",
                "{value}是{subject}颁奖之夜。",
            ),
        ),
        Attribute(
            _town,
            "{subject}的典礼在哪里举行",
            (
                "{subject}的典礼在{value}举行。",
                "{value}承办了{subject}的典礼。",
                "{subject}的来宾在{value}相聚。",
            ),
        ),
    ),
    asides=(
        "{subject}隔年颁发。",
        "{subject}的评委闭门开会。",
        "{subject}附赠一盏铜灯。",
        "电视上播放了关于{subject}的短片。",
    ),
)
CHINESE = Language(
    names=_NAMES,
    subjects=(_LANDMARK, _COMPANY, _TOWN, _PRIZE),
    phrases=Phrases(
        preface="根据材料：",
        rejections=("材料中信息不足，无从得出答案。", "关于{subject}的信息不足。"),
        doubts=("信息不足，难有把握，不过我会说：",),
        near_rejections=(
            "材料没有提到{subject}的这一点。",
            "材料未提供这方面的内容。",
            "关于{subject}的这个问题，我无法回答。",
        ),
        errors=("材料存在事实性错误。", "请注意，材料关于{subject}的说法有事实性错误。"),
        near_errors=("材料关于{subject}的信息有误。", "材料与事实不符。"),
        denials=("我没有在材料中发现事实性错误。",),
        correction="应当是：",
    ),
    pronoun="",
    between="，",
    before_last="，",
    question_mark="？",
    space="",
)
